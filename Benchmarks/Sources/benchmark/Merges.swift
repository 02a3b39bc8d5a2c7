// SPDX-License-Identifier: Apache-2.0

import Keepsake

private let each = "an upsert each way, C API"
private let one = "an upsert, C API"
private let raw = "the same transactions, C API"

func merges(_ report: Report) {
  for size in Scale.sizes {
    report.run(cold(size))
    report.run(restore(size))
    report.run(twins(size))
    do {
      let met = try MetPair(size)
      for count in [0, 1, 100, 1_000] where count <= size { report.run(changes(met, count)) }
    } catch {
      report.fail("devices of \(Scale.name(size)) keys that have met", "\(error)")
    }
  }
  report.run(many())
}

/// Two files of synced keys.
struct FilePair: Sendable {
  let paths: [String]

  /// Copies, so that each round finds the same.
  init(_ fixtures: [Fixture]) throws { paths = try fixtures.map { try $0.copy() } }
  init(copies of: FilePair) throws { paths = try of.paths.map(Files.copy) }

  static func synced(_ keys: Int, side: Int = 0) -> Fixture {
    Fixture(keys: keys, store: "cloud", side: side)
  }

  /// The keys of both are the same; half of each side's values are newer.
  static func cold(_ keys: Int) throws -> FilePair {
    try FilePair([synced(keys), synced(keys, side: 1)])
  }

  /// A file and its copy, which has another replica ID by now.
  static func twins(_ keys: Int) throws -> FilePair {
    let pair = try FilePair([synced(keys), synced(keys)])
    try RawDatabase(pair.paths[1]).execute("UPDATE replica SET id = id / 2 + 1")
    return pair
  }

  func remove() throws { for path in paths { try Files.remove(path) } }

  func merge() throws {
    let devices = try paths.map { try Device(path: $0) }
    try devices[0].merge(with: devices[1])
  }

  /// The limit of a first merge: one statement for each direction, in as many transactions, with as
  /// many rows of what the files then know of each other.
  ///
  /// - Parameters:
  ///   - rows: for each file the FROM clause of what it gets, with a WHERE, or nil.
  ///   - conflicts: rows that the first file's log gets.
  func exchange(into rows: [String?], conflicts: Int) throws {
    let databases = try paths.map { try RawDatabase($0) }
    for (into, database) in databases.enumerated() {
      let noted = """
        INSERT INTO main.mark VALUES (1000000000000, 1, 1);
        INSERT INTO main.seen VALUES ('cloud', 1, 1);
        \(into == 1 ? Self.peer : Self.log(conflicts))
        """
      if let rows = rows[into] {
        let base = try database.number(Self.last)
        try database.execute(
          Self.upsert(from: paths[1 - into], rows, base: "\(base)", and: noted))
      } else {
        try database.execute("BEGIN IMMEDIATE; \(noted) COMMIT")
      }
    }
    try databases[0].execute(Self.peer)
  }

  private static let peer = "INSERT INTO main.peer VALUES (1, 'cloud', 1, 1, 1, 1, 1, 1, 1);"
  private static func log(_ conflicts: Int) -> String {
    if conflicts == 0 { return "" }
    return """
      INSERT INTO main.conflict (store, key, lost_type, lost_value, lost_timestamp, lost_replica_id,
        winner_type, winner_timestamp, winner_replica_id, found_at)
      SELECT store, key, type, value, timestamp, replica_id, type, timestamp, replica_id, 1
      FROM sender.entry LIMIT \(conflicts);
      """
  }
  static let last = "SELECT ifnull(max(sequence_number), 0) FROM entry"
  static let all = "FROM sender.entry NOT INDEXED WHERE true"

  static func upsert(
    from path: String, _ rows: String, base: String, and others: String = ""
  ) -> String {
    """
    ATTACH 'file:\(path)?mode=ro' AS sender;
    BEGIN IMMEDIATE;
    INSERT INTO main.entry
    SELECT store, key, type, value, timestamp, replica_id, \(base) + sequence_number \(rows)
    ON CONFLICT (store, key) DO UPDATE SET type = excluded.type, value = excluded.value,
      timestamp = excluded.timestamp, replica_id = excluded.replica_id,
      sequence_number = excluded.sequence_number
    WHERE (excluded.timestamp, excluded.replica_id) > (entry.timestamp, entry.replica_id);
    \(others)
    COMMIT;
    """
  }
}

private func rounds(_ size: Int) -> ClosedRange<Int> { size >= 1_000_000 ? 2...3 : 3...21 }

/// Files that have not met.
private func cold(_ size: Int) -> Race {
  firstMerge(
    "cold merge both ways, \(Scale.name(size)) each", "Merging two devices that have not met",
    size, seconds: 4, beside: each, into: [FilePair.all, FilePair.all],
    conflicts: min(size, 10_000)
  ) { try FilePair.cold(size) }
}

private func restore(_ size: Int) -> Race {
  firstMerge(
    "restore \(Scale.name(size)) into an empty file", "Merging into an empty device", size,
    seconds: 3, beside: one, into: [nil, FilePair.all]
  ) { try FilePair([FilePair.synced(size), FilePair.synced(0)]) }
}

private func twins(_ size: Int) -> Race {
  firstMerge(
    "first merge with a copy, \(Scale.name(size)) each", "Merging a device and its copy", size,
    seconds: 3, beside: each, into: [FilePair.all, FilePair.all]
  ) { try FilePair.twins(size) }
}

/// - Parameters:
///   - raw: who does the same without Keepsake.
///   - rows: as for `FilePair.exchange`.
private func firstMerge(
  _ name: String, _ cost: String, _ size: Int, seconds: Double, beside raw: String,
  into rows: [String?], conflicts: Int = 0, _ make: @escaping () throws -> FilePair
) -> Race {
  let race = Race(
    rounds: rounds(size), seconds: seconds, warmsUp: size < 100_000,
    growth: .init(cost: cost, keys: size))
  func round(_ work: (FilePair) throws -> Void) throws -> Double {
    let pair = try make()
    let time = try nanoseconds { _ in try work(pair) }
    try pair.remove()
    return time
  }
  race.enter("Keepsake") { try round { try $0.merge() } }
  race.enter(raw) { try round { try $0.exchange(into: rows, conflicts: conflicts) } }
  race.row(name, "Keepsake", beside: [raw])
  return race
}

/// Devices that have met, each with one change: the time for each of them.
private func many() -> Race {
  let race = Race(rounds: 9...61, seconds: 4)
  func enter(_ count: Int) -> String {
    let name = "\(count) devices"
    var number = 0
    race.enter(
      name,
      { () -> [(Device, CloudKeyValueStore)] in
        let sides = try (0..<count).map { _ in
          let device = try Device(path: Files.new())
          return (device, try CloudKeyValueStore(on: device))
        }
        _ = try Merge.run(sides.map(\.0), options: MergeOptions())
        return sides
      },
      { sides in
        number += 1
        for (key, side) in sides.enumerated() {
          try side.1.write(.string("value \(number)"), for: Fixture.key(key))
        }
        let time = try nanoseconds { _ in
          _ = try Merge.run(sides.map(\.0), options: MergeOptions())
        }
        return [time / Double(count)]
      })
    return name
  }
  let two = enter(2)
  for count in [8, 32] {
    race.row(
      "sync of \(count) devices with 1 change each, per device", enter(count), beside: [two])
  }
  return race
}

private func changes(_ met: MetPair, _ count: Int) -> Race {
  let what = ["Merging where nothing is new", "Merging 1 change"]
  let cost = count < 2 ? what[count] : "Merging \(Scale.name(count)) changes"
  let race = Race(rounds: 5...61, seconds: 2, growth: .init(cost: cost, keys: met.keys))
  func keys(_ round: Int) -> [String] {
    (0..<count).map { Fixture.key(($0 * 7_368_787 + round) % met.keys) }
  }
  var round = 0
  race.enter("Keepsake", { try MetDevices(met) }) { devices in
    try devices.change(count)
    return try nanoseconds { _ in try devices.merge() }
  }
  race.enter(
    raw, { try RawMerge(met.copy().paths) },
    { merge in
      round += 1
      try merge.change(keys(round), "value \(round)")
      return [try nanoseconds { _ in try merge.merge(count) }]
    })
  race.row("\(cost), \(Scale.name(met.keys)) keys", "Keepsake", beside: [raw])
  return race
}
