// SPDX-License-Identifier: Apache-2.0
//
// Many stores on one device, each with a value.

import Foundation
import Keepsake
import Synchronization

private let ours = "Keepsake"
private let lock = "lock and dictionary"
private let raw = "SQLite, C API"
private let key = "username"

func manyStores(_ report: Report) {
  for stores in Scale.stores { report.run(opens(stores)) }
  for stores in Scale.stores { report.run(reads(stores)) }
  for stores in Scale.stores { report.run(sets(stores)) }
  for stores in Scale.stores { report.run(hearing(stores)) }
  for stores in Scale.stores { report.run(memory(stores)) }
}

private func name(_ stores: Int) -> String {
  stores == 1 ? "1 store" : "\(Scale.name(stores)) stores"
}

/// On a device, or on a new one.
private func open(_ stores: Int, on device: Device? = nil) throws -> [UserDefaultsStore] {
  let device = try device ?? .temporary()
  return try (0..<stores).map {
    try UserDefaultsStore(on: device, suite: "suite-\($0)", arguments: .none)
  }
}

/// A device with so many stores, closed.
private func made(_ stores: Int) throws -> String {
  let path = Files.new()
  let all = try open(stores, on: Device(path: path))
  try all[0].transaction { for store in all { store.set(Fixture.value(1), forKey: key) } }
  return path
}

private func opens(_ stores: Int) -> Race {
  let race = Race(
    rounds: 5...61, seconds: 2, growth: .init(cost: "Opening a store of a device", .stores, stores))
  race.enter(ours, { try made(stores) }) { path in
    // The device is open: of what many stores share, each round pays nothing.
    let device = try Device(path: path)
    return try nanoseconds { _ in
      for store in try open(stores, on: device) { blackHole(store.string(forKey: key)) }
    } / Double(stores)
  }
  race.enter(raw, { try RawDatabase(made(stores)) }) { database in
    try nanoseconds { _ in
      for number in 0..<stores {
        let statement = try database.prepare(
          "SELECT value FROM entry WHERE store = 'defaults:suite-\(number)' AND key = '\(key)'")
        try statement.step()
        blackHole(statement.text(0))
      }
    } / Double(stores)
  }
  race.row("open a store and read a key, \(name(stores))", ours, beside: [raw])
  return race
}

/// One store after the other.
private func reads(_ stores: Int) -> Race {
  let race = Race(
    rounds: 9...61, seconds: 1, growth: .init(cost: "Reading a key of a store", .stores, stores))
  let many = 10_000
  race.enter(ours, { try open(stores) }) { stores in
    for store in stores { store.set(Fixture.value(1), forKey: key) }
    return nanoseconds(many) { blackHole(stores[$0 % stores.count].string(forKey: key)) }
  }
  race.enter(lock, { (0..<stores).map { _ in LockedValues([key: Fixture.value(1)]) } }) { stores in
    nanoseconds(many) { blackHole(stores[$0 % stores.count].get(key)) }
  }
  race.row("string(forKey:), \(name(stores))", ours, beside: [lock])
  return race
}

private func sets(_ stores: Int) -> Race {
  let race = Race(
    rounds: 9...101, seconds: 2, growth: .init(cost: "Setting a key of a store", .stores, stores))
  let many = 40
  var next = 0
  /// One store after the other, each with a value that it did not have.
  func each(_ set: (Int, String) throws -> Void) rethrows -> Double {
    next += many
    return try nanoseconds(many) {
      try set((next + $0) % stores, Fixture.value((next + $0) / stores))
    }
  }
  race.enter(ours, { try open(stores) }) { all in
    each { all[$0].set($1, forKey: key) }
  }
  race.enter(raw, { try RawSets(Fixture(keys: 1_000).copy()) }) { sets in
    try each { try sets.set(Fixture.key($0), $1) }
  }
  race.row("set, .crashSafe, \(name(stores))", ours, beside: [raw])
  return race
}

private func hearing(_ stores: Int) -> Race {
  let race = Race(
    Measure.distribution, rounds: 5...15, seconds: 4,
    growth: .init(cost: "Hearing a set of another process", .stores, stores))
  race.enter(
    ours,
    {
      let path = try made(stores)
      return Listener(
        try open(stores, on: Device(path: path)),
        to: try Command.start("tell stores", [path, "\(stores)"]))
    }
  ) { try $0.round() }
  race.enter(FileListener.name, FileListener.init) { try $0.round() }
  race.row(
    "a set is heard, \(name(stores)) observed", ours, beside: [FileListener.name])
  return race
}

private func memory(_ stores: Int) -> Race {
  let race = Race(
    [Measure(suffix: "", unit: .bytes)], rounds: 1...3, seconds: 1, warmsUp: false,
    growth: .init(cost: "Memory, a key of each store read", .stores, stores))
  for kind in [ours, lock] {
    race.enter(kind, { try made(stores) }) { path in
      guard let bytes = Double(try Command.role("memory of stores", [kind, path, "\(stores)"]))
      else { throw Failure("no figure") }
      return bytes
    }
  }
  race.row("memory, a key of each read, \(name(stores))", ours, beside: [lock])
  return race
}

/// The other process.
enum StoreRoles {
  static func memory(_ kind: String, _ path: String, _ stores: Int) throws {
    let before = try OpenRoles.residentBytes()
    if kind == ours {
      let all = try open(stores, on: Device(path: path))
      for store in all { blackHole(store.string(forKey: key)) }
      print(try OpenRoles.residentBytes() - before)
      blackHole(all)
    } else {
      let all = (0..<stores).map { _ in LockedValues([key: Fixture.value(1)]) }
      print(try OpenRoles.residentBytes() - before)
      blackHole(all)
    }
  }

  /// Another store each time.
  static func tell(_ path: String, _ stores: Int) throws {
    let all = try open(stores, on: Device(path: path))
    var number = 0
    while readLine() != nil {
      usleep(1_000)
      number += 7_919
      all[number % stores].set(Int(now()), forKey: "count")
    }
  }
}
