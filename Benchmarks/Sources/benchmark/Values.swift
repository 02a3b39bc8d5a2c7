// SPDX-License-Identifier: Apache-2.0
//
// Typed settings whose stored form has to be parsed.

import Foundation
import Keepsake

private struct Profile: Codable, Sendable {
  var name = "guest"
  var mail = "guest@example.org"
  var city = "Zürich"
  var visits = 12
  var height = 180
  var width = 75
  var volume = 0.5
  var speed = 1.25
  var isKnown = true
  var isHidden = false
}

private final class ValueSettings: UserDefaultsStore, @unchecked Sendable {
  @Setting var text = ""
  @Setting var list: [String] = []
  @Setting(by: .codable) var profile = Profile()

  convenience init() throws {
    try self.init(on: .temporary(), arguments: .none)
    text = texts[1]
    list = lists[1]
    profile = profiles[1]
  }
}

/// The values that a setting has by turns.
private let texts = (0..<2).map(Fixture.value)
private let lists = (0..<2).map { side in (0..<10).map { Fixture.value($0 + side) } }
private let profiles = (0..<2).map { Profile(visits: $0) }

private let lock = "lock and dictionary"
private let (text, list, profile) = (
  "a String", "an array of 10 strings", "a Codable of 10 members"
)

/// Each value was read before.
func readsOfValues() -> Race {
  let race = Race(rounds: 25...401, seconds: 4)
  let many = 10_000
  race.enter(text, ValueSettings.init) { settings in
    nanoseconds(many) { _ in blackHole(settings.text) }
  }
  race.enter(list, ValueSettings.init) { settings in
    nanoseconds(many) { _ in blackHole(settings.list) }
  }
  race.enter(profile, ValueSettings.init) { settings in
    nanoseconds(many) { _ in blackHole(settings.profile) }
  }
  func peers<Value: Codable & Sendable>(_ name: String, _ value: Value) {
    race.enter("\(lock): \(name)", { LockedValues([name: value]) }) { values in
      nanoseconds(many) { _ in blackHole(values.get(name)) }
    }
    race.enter("\(jsonFile): \(name)", { try JSONFile([name: value]) }) { file in
      nanoseconds(many) { _ in blackHole(file.get(name)) }
    }
    race.row(
      "read \(name) again", name, beside: ["\(lock): \(name)", "\(jsonFile): \(name)"])
  }
  peers(text, texts[1])
  peers(list, lists[1])
  peers(profile, profiles[1])
  return race
}

func setsOfValues() -> Race {
  let race = Race(rounds: 25...401, seconds: 4)
  func enter<Value: Codable & Sendable>(
    _ name: String, _ values: [Value], _ set: @escaping (ValueSettings, Value) throws -> Void
  ) {
    race.enter(name, ValueSettings.init) { settings in
      try nanoseconds(20) { try set(settings, values[$0 % 2]) }
    }
    race.enter("\(jsonFile): \(name)", { try JSONFile([name: values[1]]) }) { file in
      try nanoseconds(4) { try file.set(name, values[$0 % 2]) }
    }
    race.row("set \(name), .crashSafe", name, beside: ["\(jsonFile): \(name)"])
  }
  enter(text, texts) { try $0.$text.write($1) }
  enter(list, lists) { try $0.$list.write($1) }
  enter(profile, profiles) { try $0.$profile.write($1) }
  return race
}
