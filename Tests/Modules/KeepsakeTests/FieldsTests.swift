// SPDX-License-Identifier: Apache-2.0
//
// A structure that is stored member by member: reading and writing.

import Keepsake
import Observation
import Synchronization
import TestSupport
import Testing

private struct Refused: Error {}

private struct Size: Codable, Equatable { var width = 1, height = 2 }

private enum Theme: String, Codable { case light, dark }

private struct Preferences: Codable, Equatable {
  var name = "guest"
  var volume = 5
  var level = 0.5
  var nick: String?
  var size = Size()
  var tags: [String] = []
  var theme = Theme.light
}

private final class Local: UserDefaultsStore, Observable, @unchecked Sendable {
  @Setting(fields: "prefs.") var prefs = Preferences()
  @Setting var other = 0
}

/// The same keys, declared one by one.
private final class Plain: UserDefaultsStore, @unchecked Sendable {
  @Setting("prefs.name") var name = "guest"
  @Setting("prefs.volume") var volume = 5
  @Setting("prefs.level") var level = 0.5
  @Setting("prefs.nick") var nick: String?
  @Setting("prefs.size", by: .codable) var size = Size()
  @Setting("prefs.tags") var tags: [String] = []
  @Setting("prefs.theme", by: .codable) var theme = Theme.light
}

private func change<Value>(_ value: inout Value, _ body: (inout Value) throws -> Void) rethrows {
  try body(&value)
}

@Suite struct FieldsTests {
  private let device: Device
  private let local: Local
  private let heard = Heard()
  private let observation: ObservationToken

  init() throws {
    device = try .temporary()
    local = try Local(on: device, arguments: .none)
    observation = local.observe { [heard] in heard.append($0) }
  }

  /// The keys of each change set, from the first.
  private var keys: [[String]] { heard.sets.map { $0.map(\.key) } }

  @Test func aChangeOfAMemberWritesItsKeyAlone() throws {
    #expect(local.prefs == Preferences())
    local.prefs.volume = 9
    local.prefs.size.width = 3
    local.prefs.nick = "ada"
    local.prefs.tags.append("x")
    local.prefs.theme = .dark
    local.prefs.nick = nil
    local.prefs.volume = 9
    let each = ["prefs.volume", "prefs.size", "prefs.nick", "prefs.tags", "prefs.theme"]
    #expect(keys == (each + ["prefs.nick"]).map { [$0] })
    #expect(local["prefs.volume"] == 9 && local["prefs.size"] == ["width": 3, "height": 2])
    #expect(local["prefs.nick"] == nil && local["prefs.theme"] == "dark")
    let set = try local.keysThatAreSet
    #expect(!set.contains("prefs.name") && !set.contains("prefs.level"))
    #expect(local.prefs == Preferences(volume: 9, size: Size(width: 3), tags: ["x"], theme: .dark))
    #expect(local.failures.isEmpty)
  }

  @Test func aMemberIsStoredAsASettingOfItsType() throws {
    let plain = try Plain(on: device, arguments: .none)
    local.prefs = Preferences(
      name: "ada", volume: 1, level: 2, nick: "n", size: Size(height: 9), tags: ["t"], theme: .dark)
    #expect(plain.name == "ada" && plain.volume == 1 && plain.level == 2 && plain.nick == "n")
    #expect(plain.size == Size(height: 9) && plain.tags == ["t"] && plain.theme == .dark)
    (plain.level, plain.nick, plain.tags) = (3, nil, [])
    #expect(local.prefs.level == 3 && local.prefs.nick == nil && local.prefs.tags == [])
    #expect(plain.failures.isEmpty && local.failures.isEmpty)
  }

  @Test func anAssignmentWritesWhatDiffersInOneStep() throws {
    local.prefs.volume = 9
    var new = local.prefs
    (new.name, new.tags) = ("ada", ["t"])
    local.prefs = new
    try local.$prefs.write(new)
    #expect(keys == [["prefs.volume"], ["prefs.name", "prefs.tags"]])
    #expect(local.prefs == new)
  }

  @Test func anUpdateIsOneStepOrNone() throws {
    try local.$prefs.update { ($0.name, $0.volume) = ("ada", $0.volume + 1) }
    #expect(throws: Refused.self) {
      try local.$prefs.update {
        $0.name = "bob"
        throw Refused()
      }
    }
    #expect(throws: Refused.self) {
      try local.transaction {
        local.prefs.name = "bob"
        throw Refused()
      }
    }
    #expect(keys == [["prefs.name", "prefs.volume"]] && local.prefs.volume == 6)
    try local.$prefs.update { prefs in
      local.prefs.name = "written within"
      prefs.volume += 1
    }
    #expect(local.prefs == Preferences(name: "written within", volume: 7))
  }

  @Test func whatOthersWroteMeanwhileStays() throws {
    let other = try UserDefaultsStore(on: Device(path: device.path), arguments: .none)
    change(&local.prefs) { prefs in
      other["prefs.name"] = "ada"
      prefs.volume = 9
    }
    #expect(local.prefs == Preferences(name: "ada", volume: 9))
    #expect(local.failures.isEmpty)
    change(&local.prefs) { prefs in
      other["prefs.volume"] = 1
      (prefs.level, prefs.volume) = (1, 2)
    }
    #expect(local.prefs == Preferences(name: "ada", volume: 1))
    #expect(local.failures.map(\.key) == ["prefs.volume"])
    #expect(local.failures.map(\.operation) == [.write])
  }

  @Test func aMemberThatCannotBeReadLeavesTheOthers() throws {
    (local["prefs.volume"], local["prefs.name"]) = ("many", "ada")
    local["prefs.theme"] = "sepia"
    for _ in 1...3 { #expect(local.prefs == Preferences(name: "ada")) }
    #expect(local.failures.map(\.key) == ["prefs.volume", "prefs.theme"])
    #expect(local.failures.map(\.storedType) == [.string, .string])
    #expect(
      local.failures.first?.description
        == "defaults/prefs.volume: the setting could not be read from the string that is stored: "
        + "at volume: the stored value is of type string, not integer; "
        + "read it with its own type, or set it again")
    local.prefs.name = "bob"
    local.prefs = Preferences(name: "eve")
    #expect(local["prefs.volume"] == "many" && local["prefs.theme"] == "sepia")
    let failure = #expect(throws: SettingFailure.self) { try local.$prefs.read() }
    #expect(failure?.key == "prefs.volume")
    #expect(throws: SettingFailure.self) { try local.$prefs.update { $0.level = 1 } }
    #expect(try !local.keysThatAreSet.contains("prefs.level"))
    local.prefs.volume += 1
    #expect(local["prefs.volume"] == 6 && local.prefs == Preferences(name: "eve", volume: 6))
    #expect(local.failures.count == 2, "each was reported once")
    try local.$prefs.reset()
    #expect(try local.$prefs.read() == Preferences())
  }

  @Test func membersOfANewerVersionStay() throws {
    local["prefs.future"] = ["new": true]
    local["prefs."] = 1
    local.prefs.volume = 1
    local.prefs = Preferences(name: "ada")
    try local.$prefs.update { $0.nick = "n" }
    try local.$prefs.reset()
    #expect(local["prefs.future"] == ["new": true] && local["prefs."] == 1)
    #expect(try local.$prefs.isDefault && local.keysThatAreSet == ["prefs.", "prefs.future"])
    #expect(local.failures.isEmpty)
  }

  @Test func eachMemberHasItsOwnLayer() throws {
    let arguments = LaunchArguments(
      ["", "-prefs.volume", "8", "-prefs.nick", "7", "-prefs.tags", "[\"a\"]"])
    let store = try Local(on: device, arguments: arguments)
    store.addSuite(named: "suite")
    store.register(defaults: ["prefs.theme": "dark", "prefs.level": 1])
    try UserDefaultsStore(on: device, suite: "suite", arguments: .none)
      .write(2, for: "prefs.level")
    local.prefs.name = "ada"
    let all = Preferences(
      name: "ada", volume: 8, level: 2, nick: "7", tags: ["a"], theme: .dark)
    #expect(store.prefs == all && store.failures.isEmpty)
    #expect(try store.$prefs.read() == all)
    store.prefs.volume += 1
    #expect(local.prefs.volume == 9 && store.prefs.volume == 8)
    let wrong = try Local(on: device, arguments: LaunchArguments(["", "-prefs.volume", "loud"]))
    #expect(wrong.prefs.volume == 5 && wrong.prefs.name == "ada")
    #expect(wrong.failures.map(\.argument) == [1] && wrong.failures.map(\.key) == ["prefs.volume"])
  }

  @Test func observersHearOfEveryMember() async throws {
    let seen = Mutex<[Preferences]>([])
    let token = try local.$prefs.observe { new in seen.withLock { $0.append(new) } }
    var values = local.$prefs.values.makeAsyncIterator()
    #expect(await values.next() == Preferences())
    local.other = 1
    local["prefs.future"] = 1
    local.prefs.volume = 6
    #expect(await values.next()?.volume == 6)
    local.prefs = Preferences(name: "ada", level: 1)
    #expect(await values.next() == Preferences(name: "ada", level: 1))
    #expect(seen.withLock { $0.map(\.name) } == ["guest", "ada"])
    token.cancel()
  }

  @Test func trackingFollowsEveryMember() throws {
    let local = local
    let told = Mutex(0)
    @Sendable func track() {
      withObservationTracking {
        _ = local.prefs
      } onChange: {
        told.withLock { $0 += 1 }
        track()
      }
    }
    track()
    (local.other, local["prefs.future"]) = (1, 1)
    #expect(told.withLock { $0 } == 0)
    local.prefs = Preferences(name: "ada", volume: 1)
    #expect(told.withLock { $0 } == 1, "a commit of two members is one change")
    local["prefs.size"] = ["width": 9, "height": 9]
    #expect(told.withLock { $0 } == 2)
  }
}

extension SettingsStore {
  /// Also those that no setting has.
  var keysThatAreSet: [String] {
    get throws {
      // A store without properties has no defaults.
      try UserDefaultsStore(on: device, arguments: .none).dictionaryRepresentation().keys.sorted()
    }
  }
}

// MARK: - Reading costs what a plain setting's does

/// Counts how often one is read from the store.
private struct Counted: BackingStoreConvertible, Codable {
  static let reads = Mutex(0)
  var number = 0

  static func fromBackingStore(_ value: StoredValue) throws -> Counted {
    reads.withLock { $0 += 1 }
    return Counted(number: try Int.fromBackingStore(value))
  }

  func toBackingStore() throws -> StoredValue { .integer(Int64(number)) }
}

private final class Cached: UserDefaultsStore, @unchecked Sendable {
  struct Members: Codable { var counted = Counted(), wrong = 1 }
  @Setting(fields: "") var members = Members()
}

@Suite struct FieldsCacheTests {
  @Test func whatDoesNotChangeIsReadOnce() throws {
    let store = try Cached(on: .inMemory(), arguments: .none)
    // A member's own hooks are called; the second cannot be read, which changes nothing of this.
    (store["counted"], store["wrong"]) = (3, "wrong")
    #expect(store.members.counted.number == 3)
    let reads = Counted.reads.withLock { $0 }
    for _ in 1...9 { #expect(store.members.counted.number == 3 && store.members.wrong == 1) }
    #expect(Counted.reads.withLock { $0 } == reads)
    store["counted"] = 4
    #expect(store.members.counted.number == 4)
    #expect(Counted.reads.withLock { $0 } > reads && store.failures.map(\.key) == ["wrong"])
  }
}
