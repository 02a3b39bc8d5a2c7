// SPDX-License-Identifier: Apache-2.0
//
// A structure that is stored member by member: what an assignment compares with, and members that
// were renamed.

import Keepsake
import TestSupport
import Testing

private struct Limits: Codable, Equatable { var low = 0, high = 5 }

private final class Local: UserDefaultsStore, @unchecked Sendable {
  @Setting(fields: "l.") var limits = Limits()
}

private struct Renamed: Codable, Equatable {
  enum FormerKeys: String, CodingKey { case userName, size }

  var name = "guest"
  var width = 1
  var volume: Int? = 5

  init() {}

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let former = try decoder.container(keyedBy: FormerKeys.self)
    name =
      try container.decodeIfPresent(String.self, forKey: .name)
      ?? former.decodeIfPresent(String.self, forKey: .userName) ?? "nobody"
    width =
      try container.decodeIfPresent(Int.self, forKey: .width)
      ?? former.decodeIfPresent(Int.self, forKey: .size) ?? 0
    volume = try container.decodeIfPresent(Int.self, forKey: .volume)
  }
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
    #expect(plain.limits == Limits(low: 7, high: 6) && argued.errors.isEmpty)
  }

  @Test func aMemberThatWasRenamedIsFoundUnderItsFormerName() throws {
    let store = try Newer(on: .inMemory(), arguments: .none)
    #expect(store.prefs == Renamed())
    store["p.userName"] = "ada"
    var wanted = Renamed()
    wanted.name = "ada"
    #expect(store.prefs == wanted, "the others have the default's values")
    store["p.size"] = 3
    wanted.width = 3
    #expect(store.prefs == wanted)
    store.prefs.name = "bob"
    wanted.name = "bob"
    #expect(store.prefs == wanted && store["p.userName"] == "ada")
    #expect(store["p.name"] == "bob" && store.errors.isEmpty)
  }
}
