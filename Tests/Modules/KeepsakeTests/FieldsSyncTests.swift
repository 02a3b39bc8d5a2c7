// SPDX-License-Identifier: Apache-2.0
//
// A structure that is stored member by member, on several devices: the last writer of each member
// wins, and a version keeps what another knows.

import Keepsake
import TestSupport
import Testing

private struct Preferences: Codable, Equatable {
  var theme = "light"
  var volume = 5
  var tags: Set<String> = []
  var nick: String?
}

private final class Shared: CloudKeyValueStore, @unchecked Sendable {
  @Setting(fields: "prefs.") var prefs = Preferences()
}

@Suite struct FieldsSyncTests {
  @Test func whatAMemberLostIsTheValueWithIt() throws {
    let devices = try SimulatedDevices(count: 2)
    let (here, there) = (try Shared(on: devices[0]), try Shared(on: devices[1]))
    here.prefs.tags = ["mine"]
    (there.prefs.tags, there.prefs.volume) = (["theirs"], 7)
    here["other"] = 1
    there["other"] = 2
    try devices[0].merge(with: devices[1])
    let conflicts = try here.conflicts
    #expect(conflicts.map(\.key).sorted() == ["other", "prefs.tags"])
    for conflict in conflicts {
      guard let lost = try here.$prefs.lost(in: conflict) else { continue }
      #expect(lost == Preferences(volume: 7, tags: ["mine"]))
      here.prefs.tags.formUnion(lost.tags)
    }
    #expect(here.prefs == Preferences(volume: 7, tags: ["mine", "theirs"]))
  }

  // MARK: - Random histories

  /// As many members as it has numbers.
  struct Numbers: Codable, Equatable, Sendable {
    var numbers: [Int?]

    init(_ numbers: [Int?]) { self.numbers = numbers }

    /// Of the version that decodes now.
    @TaskLocal static var count = 0

    init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: Name.self)
      numbers = try (0..<Self.count).map {
        try members.decodeIfPresent(Int.self, forKey: Name($0))
      }
    }

    func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: Name.self)
      for (place, number) in numbers.enumerated() {
        try members.encodeIfPresent(number, forKey: Name(place))
      }
    }

    struct Name: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }
      init(_ place: Int) { stringValue = "m\(place)" }
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }
  }

  final class Versioned: CloudKeyValueStore, @unchecked Sendable {
    let members: Setting<Numbers>

    init(on device: Device, _ defaults: [Int?]) throws {
      members = Setting(wrappedValue: Numbers(defaults), fields: "m.")
      try super.init(on: device)
    }
  }

  /// What a device should hold: for each member the last write that it knows of, and when it was.
  typealias Model = [Int: (time: Int, number: Int?)]

  /// A random value that differs from `old` in some members; nil where a member has no default.
  private static func edit(
    _ old: [Int?], _ defaults: [Int?], _ random: inout SeededGenerator
  ) -> [Int?] {
    zip(old, defaults).map { old, standard in
      guard random.chance(40) else { return old }
      return standard == nil && random.chance(30) ? nil : Int.random(in: 0..<5, using: &random)
    }
  }

  @Test(arguments: Seeds.list(20)) func theLastWriterOfEachMemberWins(seed: UInt64) throws {
    let devices = try SimulatedDevices(count: 2, seed: seed)
    let size = Int.random(in: 2...6, using: &devices.random)
    let all = (0..<size).map { _ in devices.random.chance(50) ? 3 : Int?.none }
    // The second device may have an older version, which does not know the last members.
    let sizes = [size, Int.random(in: 1...size, using: &devices.random)]
    var models: [Model] = [[:], [:]]
    let stores = try (0..<2).map { place in
      try Numbers.$count.withValue(sizes[place]) {
        try Versioned(on: devices[place], Array(all[..<sizes[place]]))
      }
    }
    for time in 0..<60 {
      let place = Int.random(in: 0..<2, using: &devices.random)
      try Numbers.$count.withValue(sizes[place]) {
        let (setting, defaults) = (stores[place].members, Array(all[..<sizes[place]]))
        let old = defaults.enumerated().map { models[place][$0]?.number ?? $1 }
        #expect(setting.wrappedValue.numbers == old)
        var new = Self.edit(old, defaults, &devices.random)
        switch Int.random(in: 0..<10, using: &devices.random) {
        case 0:
          try setting.reset()
          for member in defaults.indices { models[place][member] = (time, nil) }
          return
        case 1, 2: setting.wrappedValue = Numbers(new)
        case 3: try setting.write(Numbers(new))
        case 4, 5: try setting.update { $0 = Numbers(new) }
        case 6, 7:
          let member = Int.random(in: 0..<sizes[place], using: &devices.random)
          setting.wrappedValue.numbers[member] = new[member]
          new = old.enumerated().map { $0 == member ? new[member] : $1 }
        default:
          try devices.merge(0, 1)
          models[0].merge(models[1]) { $0.time > $1.time ? $0 : $1 }
          models[1] = models[0]
          return
        }
        for member in defaults.indices where new[member] != old[member] {
          models[place][member] = (time, new[member])
        }
      }
    }
    try devices.merge(0, 1)
    models[0].merge(models[1]) { $0.time > $1.time ? $0 : $1 }
    for store in stores {
      let entries = try CloudKeyValueStore(on: store.device)
      for member in 0..<size {
        #expect(
          entries["m.m\(member)"] == models[0][member]?.number.map { .integer(Int64($0)) },
          "member \(member) of \(size), seed \(seed)")
      }
      #expect(store.failures.isEmpty)
    }
  }
}
