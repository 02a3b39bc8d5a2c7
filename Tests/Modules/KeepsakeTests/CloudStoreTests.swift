// SPDX-License-Identifier: Apache-2.0
//
// What a store that travels has and others have not: limits, accounts, and an honest state.

import Foundation
import Keepsake
import TestSupport
import Testing

private final class Shared: CloudKeyValueStore, @unchecked Sendable {
  @Setting var theme = "light"
  @Setting var size = 1
}

@Suite struct StoreLimitsTests {
  private let device: Device
  private let store: Shared

  init() throws {
    device = try Device.inMemory()
    let limits = StoreLimits(totalBytes: 40, keyCount: 3, valueBytes: 20, keyBytes: 8)
    store = try Shared(on: device, limits: limits)
  }

  private func refusal(_ key: String, _ value: StoredValue) -> String? {
    do {
      try store.write(value, for: key)
      return nil
    } catch {
      #expect(error.code == .quotaExceeded)
      return error.description
    }
  }

  /// 1 MB in all and for one key, 1,024 keys, 64 bytes for a key:
  /// https://developer.apple.com/documentation/foundation/nsubiquitouskeyvaluestore
  @Test func thoseOfICloudRefuseTheFirstByteAndTheFirstKeyBeyondThem() throws {
    func isRefused(_ store: Shared, _ key: String, _ value: StoredValue) -> Bool {
      do throws(KeepsakeError) {
        try store.write(value, for: key)
        return false
      } catch {
        #expect(error.code == .quotaExceeded)
        return true
      }
    }
    let large = try Shared(on: .inMemory(), limits: .iCloud)
    let megabyte = String(repeating: "x", count: 1_048_576)
    #expect(isRefused(large, "k", .string(megabyte + "x")))
    #expect(!isRefused(large, "k", .string(megabyte)))
    #expect(isRefused(large, "one more byte", "x"))

    let many = try Shared(on: .inMemory(), limits: .iCloud)
    try many.transaction {
      for number in 1...1024 { try many.write(1, for: "\(number)") }
    }
    #expect(isRefused(many, "one more key", 1))
    #expect(!isRefused(many, "1024", 2))
    many.removeObject(forKey: "1024")
    #expect(isRefused(many, String(repeating: "k", count: 65), 1))
    #expect(!isRefused(many, String(repeating: "k", count: 64), 1))
  }

  @Test func eachLimitRefusesTheFirstWriteBeyondIt() {
    #expect(refusal("12345678", 1) == nil)
    #expect(
      refusal("123456789", 1)
        == "(memory): the key of cloud/123456789 has 9 bytes, more than the limit of 8; "
        + "use a shorter one")
    // Four bytes for two letters.
    #expect(refusal("éé12345", 1) != nil && refusal("éé1234", 1) == nil)
    #expect(refusal("12345678", .string(String(repeating: "x", count: 20))) == nil)
    #expect(
      refusal("12345678", .string(String(repeating: "x", count: 21)))
        == "(memory): the value of cloud/12345678 has 21 bytes, more than the limit of 20; "
        + "keep it in a file of its own")
    // 20 and 8 are there; 12 are left.
    #expect(
      refusal("c", "1234567890123")
        == "(memory): with cloud/c the store would hold more than 40 bytes; remove something")
    #expect(refusal("c", "123456789012") == nil)
    #expect(
      refusal("d", "")
        == "(memory): cloud/d is one key too many: the store has 3; "
        + "remove one, or put several into one")
  }

  @Test func aStoreThatIsFullCanBeMadeSmaller() {
    for key in ["a", "b"] { #expect(refusal(key, "12345678901234567890") == nil) }
    #expect(refusal("c", 1) != nil)
    #expect(refusal("a", "1234567890123456789") == nil && refusal("a", "short") == nil)
    store.removeObject(forKey: "b")
    #expect(refusal("b", 1) == nil && refusal("c", 1) == nil && store.errors.isEmpty)
  }

  @Test func aMergeIsNeverRefused() throws {
    let other = try Device.inMemory()
    let there = try Shared(on: other)
    for number in 0..<10 { there["a longer key \(number)"] = "a value of more than 20 bytes" }
    try device.merge(with: other)
    #expect((0..<10).allSatisfy { store["a longer key \($0)"] != nil })
    // What is there may be made smaller, not larger, and go.
    #expect(refusal("a longer key 1", 1) == nil && refusal("a longer key 1", "longer again") != nil)
    store.removeObject(forKey: "a longer key 1")
    #expect(store["a longer key 1"] == nil)
    #expect(refusal("new", 1) != nil)
  }
}

@Suite struct SyncStateTests {
  private let clock = ManualClock(milliseconds: 1_700_000_000_000)
  private let (phone, laptop): (Device, Device)
  private let (here, there): (Shared, Shared)

  init() throws {
    (phone, laptop) = (
      try Device.inMemory(clock: clock), try Device.inMemory(clock: clock)
    )
    (here, there) = (try Shared(on: phone), try Shared(on: laptop))
  }

  private func time(_ milliseconds: Int64) -> Date {
    Date(timeIntervalSince1970: Double(milliseconds) / 1000)
  }

  @Test func anExchangeWithoutNewsCountsFromDayToDay() throws {
    try phone.merge(with: laptop)
    let first = clock.milliseconds
    clock.milliseconds += 86_400_000
    try phone.merge(with: laptop)
    #expect(try here.syncState == .upToDate(asOf: time(first)))
    clock.milliseconds += 1
    try phone.merge(with: laptop)
    #expect(try here.syncState == .upToDate(asOf: time(clock.milliseconds)))
    #expect(try there.syncState == .upToDate(asOf: time(clock.milliseconds)))
  }

  @Test func aStoreTellsSinceWhenItIsUpToDateAndWhatIsPending() throws {
    here.theme = "dark"
    there.size = 2
    try phone.merge(with: laptop)
    let first = time(1_700_000_000_000)
    #expect(try here.syncState == .upToDate(asOf: first))
    #expect(try there.syncState == .upToDate(asOf: first))
    clock.milliseconds += 60_000
    here.theme = "blue"
    here.theme = "green"
    here.removeObject(forKey: "size")
    #expect(try here.syncState == .pending(changes: 2, asOf: first))
    #expect(try there.syncState == .upToDate(asOf: first))
    try laptop.merge(with: phone)
    #expect(try here.syncState == .upToDate(asOf: time(1_700_000_060_000)))
    #expect(try there.syncState == .upToDate(asOf: time(1_700_000_060_000)))
  }

  @Test func whatWasLearnedFromOneDeviceIsNotPendingForAnother() throws {
    let third = try Device.inMemory(clock: clock)
    try phone.merge(with: laptop, third)
    there.theme = "dark"
    try phone.merge(with: laptop)
    #expect(try here.theme == "dark" && here.syncState == .upToDate(asOf: time(clock.milliseconds)))
  }

  @Test func otherStoresDoNotCount() throws {
    try phone.merge(with: laptop)
    here.theme = "dark"
    try phone.merge(with: laptop)
    try CloudKeyValueStore(on: phone, name: "notes")["k"] = 1
    #expect(try here.syncState == .upToDate(asOf: time(clock.milliseconds)))
    #expect(try CloudKeyValueStore(on: phone, name: "notes").syncState == .neverSynced)
  }

  @Test func aValueIsSetDefaultOrNotYetMet() throws {
    #expect(try here.valueState(forKey: "theme") == .notYetSynced)
    here.theme = "dark"
    #expect(try here.valueState(forKey: "theme") == .set)
    #expect(try here.valueState(forKey: "size") == .notYetSynced)
    try phone.merge(with: laptop)
    #expect(try here.valueState(forKey: "size") == .default)
    #expect(try there.valueState(forKey: "theme") == .set)
    there.removeObject(forKey: "theme")
    #expect(try there.valueState(forKey: "theme") == .default)
  }
}
