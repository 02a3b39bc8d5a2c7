// SPDX-License-Identifier: Apache-2.0
//
// A structure that is stored member by member: what an assignment compares with, and a member that
// was renamed.

import Keepsake
import TestSupport
import Testing

private struct Limits: Codable, Equatable { var low = 0, high = 5 }

private final class Local: UserDefaultsStore, @unchecked Sendable {
  @Setting(fields: "l.") var limits = Limits()
}

private struct Renamed: Codable, Equatable {
  enum CodingKeys: String, CodingKey {
    case name = "userName"
    case volume
  }

  var name = "guest"
  var volume: Int? = 5
}

private final class Newer: UserDefaultsStore, @unchecked Sendable {
  @Setting(fields: "p.") var prefs = Renamed()
}

@Suite struct FieldsWritingTests {
  @Test func anArgumentKeepsNothingFromBeingStored() throws {
    let device = try Device.inMemory()
    let argued = try Local(on: device, arguments: LaunchArguments(["", "-l.low", "7"]))
    try argued.$limits.write(Limits(low: 7, high: 5))
    let plain = try Local(on: device, arguments: .none)
    #expect(plain.limits == Limits(low: 7, high: 5))
    #expect(try plain.keysThatAreSet == ["l.low"])
    argued.limits = Limits(low: 7, high: 6)
    #expect(plain.limits == Limits(low: 7, high: 6) && argued.failures.isEmpty)
  }

  @Test func aRenamedMemberKeepsItsKey() throws {
    let store = try Newer(on: .inMemory(), arguments: .none)
    store["p.userName"] = "ada"
    #expect(store.prefs.name == "ada" && store.prefs.volume == 5)
    store.prefs.name = "bob"
    #expect(store["p.userName"] == "bob" && store.failures.isEmpty)
  }

  @Test func aMemberThatCannotBeReadIsReplacedByAnotherValueThanItsDefault() throws {
    let store = try Local(on: .inMemory(), arguments: .none)
    store["l.low"] = "zero"
    store["l.high"] = 6
    store.limits = Limits(low: 0, high: 6)
    #expect(store["l.low"] == "zero")
    #expect(throws: SettingFailure.self) { try store.$limits.update { $0.high = 7 } }
    try store.$limits.write(Limits(low: 1, high: 6))
    #expect(store["l.low"] == 1 && store["l.high"] == 6)
    #expect(try store.$limits.read() == Limits(low: 1, high: 6))
  }
}
