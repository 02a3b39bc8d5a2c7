// SPDX-License-Identifier: Apache-2.0
//
// The state of a store that syncs.

import Foundation
import Keepsake
import TestSupport
import Testing

private final class Shared: CloudKeyValueStore, @unchecked Sendable {
  @Setting var theme = "light"
  @Setting var size = 1
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
