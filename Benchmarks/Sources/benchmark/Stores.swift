// SPDX-License-Identifier: Apache-2.0
//
// What reads and writes one key in each of the compared stores.

import Foundation
import GRDB
import Keepsake
import Synchronization

final class BenchmarkSettings: UserDefaultsStore, @unchecked Sendable {
  @Setting var username = "guest"
  @Setting var count = 0

  convenience init(_ path: String? = nil, durability: Durability = .crashSafe) throws {
    try self.init(
      on: path.map { try Device(path: $0) } ?? .temporary(), arguments: .none,
      durability: durability)
  }
}

/// A dictionary behind a lock: the limit of what reads and writes in memory allow.
final class LockedValues<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let values: Mutex<[Key: Value]>
  init(_ values: [Key: Value]) { self.values = Mutex(values) }
  func get(_ key: Key) -> Value? { values.withLock { $0[key] } }
  func set(_ key: Key, _ value: Value) { values.withLock { $0[key] = value } }
}

/// A set as the same statements by the C API: begin, read the old value and the counters, write,
/// commit.
final class RawSets {
  private let database: RawDatabase
  private let begin, commit, read, state, write: RawStatement

  /// - Parameter path: a file of ours; nil for a new one.
  init(_ path: String? = nil, synchronous: String = "NORMAL") throws {
    database = try RawDatabase(path ?? Fixture(keys: 1).copy(), synchronous: synchronous)
    (begin, commit) = (try database.prepare("BEGIN IMMEDIATE"), try database.prepare("COMMIT"))
    read = try database.prepare(SQL.read)
    state = try database.prepare(SQL.state)
    write = try database.prepare(SQL.write)
  }

  func get(_ key: String) throws -> String? {
    read.bind(1, key)
    defer { read.reset() }
    try read.step()
    return read.text(1)
  }

  func set(_ key: String, _ value: String) throws { try transaction([(key, value)]) }

  func transaction(_ writes: some Sequence<(String, String)>) throws {
    try begin.run()
    for (key, value) in writes {
      read.bind(1, key)
      try read.run()
      try state.step()
      write.bind(1, key)
      write.bind(2, value)
      write.bind(3, state.integer(1) + 1)
      write.bind(4, state.integer(0))
      write.bind(5, state.integer(2) + 1)
      state.reset()
      try write.run()
    }
    try commit.run()
  }
}

enum SQL {
  static let read = """
    SELECT type, value, timestamp, replica_id FROM entry WHERE store = 'defaults' AND key = ?1
    """
  static let state = """
    SELECT id,
      max(timestamp,
        ifnull((SELECT timestamp FROM entry ORDER BY sequence_number DESC LIMIT 1), 0)),
      max(sequence_number, ifnull((SELECT max(sequence_number) FROM entry), 0)) FROM replica
    """
  static let write = """
    INSERT INTO entry (store, key, type, value, timestamp, replica_id, sequence_number)
    VALUES ('defaults', ?1, 1, ?2, ?3, ?4, ?5)
    ON CONFLICT (store, key) DO UPDATE SET type = excluded.type, value = excluded.value,
      timestamp = excluded.timestamp, replica_id = excluded.replica_id,
      sequence_number = excluded.sequence_number
    WHERE (excluded.timestamp, excluded.replica_id, excluded.type, excluded.value)
      > (entry.timestamp, entry.replica_id, entry.type, entry.value)
    """
}

/// GRDB alone: the same statements through its `DatabasePool`.
final class GRDBSets: Sendable {
  private let pool: DatabasePool

  init(_ path: String? = nil, synchronous: String = "NORMAL") throws {
    pool = try DatabasePool(path: path ?? Fixture(keys: 1).copy())
    // The pool's own configuration would be overwritten when it turns on the log.
    try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = \(synchronous)") }
  }

  func get(_ key: String) throws -> String? {
    try pool.read { database in
      let row = try Row.fetchOne(database.cachedStatement(sql: SQL.read), arguments: [key])
      return row?[1]
    }
  }

  func set(_ key: String, _ value: String) throws { try transaction([(key, value)]) }

  func transaction(_ writes: [(String, String)]) throws {
    try pool.write { database in
      for (key, value) in writes {
        _ = try Row.fetchOne(database.cachedStatement(sql: SQL.read), arguments: [key])
        guard let state = try Row.fetchOne(database.cachedStatement(sql: SQL.state)) else {
          throw Failure("no identity")
        }
        let (id, time, number) = (state[0] as Int64, state[1] as Int64, state[2] as Int64)
        try database.cachedStatement(sql: SQL.write).execute(
          arguments: [key, value, time + 1, id, number + 1])
      }
    }
  }
}

/// Foundation's `UserDefaults` with so many keys: set, or from a file where setting takes too long.
enum FoundationDefaults {
  static let most = 100_000
  static let tooMany = "not measured above 100,000 keys: a set costs as much as all keys together"

  static func suite(keys: Int) throws -> String {
    guard keys <= most else { throw Failure(tooMany) }
    let suite = "suite-\(UUID())"
    let values = Dictionary(
      uniqueKeysWithValues: (0..<keys).map { (Fixture.key($0), Fixture.value($0)) })
    let data = try PropertyListSerialization.data(
      fromPropertyList: values, format: .xml, options: 0)
    try data.write(to: URL(fileURLWithPath: "\(Files.folder)/config/\(suite).plist"))
    return suite
  }

  static func make(keys: Int) throws -> UserDefaults {
    guard let defaults = UserDefaults(suiteName: try suite(keys: keys)) else {
      throw Failure("no suite")
    }
    guard keys == 0 || defaults.string(forKey: Fixture.key(0)) != nil else {
      throw Failure("the file of the suite is not read")
    }
    return defaults
  }
}
