// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import Synchronization

/// Two files that have met, once for each contender.
final class MetPair {
  let keys: Int
  private let met: FilePair
  private var round = 0
  var changed: Int { min(1_000, keys) }

  /// Made once for all rows of a run.
  private static let made = Mutex<[Int: FilePair]>([:])

  init(_ keys: Int) throws {
    self.keys = keys
    met = try Self.made.withLock { made in
      if let pair = made[keys] { return pair }
      let pair = try FilePair.cold(keys)
      try Command.run([Command.kvsync, "merge", "--quiet"] + pair.paths)
      made[keys] = pair
      return pair
    }
  }

  /// A file and its copy, whose first merge is short.
  init(copiesOf keys: Int) throws {
    self.keys = keys
    met = try FilePair.twins(keys)
    try met.merge()
  }

  func copy() throws -> FilePair { try FilePair(copies: met) }

  /// Writes keys of the first file again, spread over all of them.
  ///
  /// - Returns: the last local sequence number before.
  func change(_ pair: FilePair) throws -> Int64 {
    round += 1
    let database = try RawDatabase(pair.paths[0])
    let before = try database.number(FilePair.last)
    try database.execute(
      """
      UPDATE entry SET timestamp = timestamp + (10 << 16),
        replica_id = (SELECT id FROM replica), sequence_number =
        (SELECT max(sequence_number) FROM entry) + 1 + CAST(substr(key, 5) AS INTEGER)
      WHERE store = 'cloud' AND key IN (
        WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < \(changed - 1))
        SELECT printf('key-%07d', (i * 7368787 + \(round)) % \(keys)) FROM n)
      """)
    return before
  }
}

extension MetPair {
  /// As `change`, by the command.
  func `import`(_ pair: FilePair) throws {
    round += 1
    let lines = (0..<changed).map { number in
      let key = Fixture.key((number * 7_368_787 + round) % keys)
      let value = Fixture.value(round) + "\(number % 10)"
      return #"{"store":"cloud","key":"\#(key)","type":"string","value":"\#(value)"}"# + "\n"
    }
    let path = Files.new(".jsonl")
    try Data(lines.joined().utf8).write(to: URL(fileURLWithPath: path))
    try Command.run([Command.kvsync, "import", "--quiet", pair.paths[0], path])
    try Files.remove(path)
  }
}

/// Devices that have met, and stay open.
final class MetDevices {
  private let keys: Int
  private let devices: [Device]
  private let store: CloudKeyValueStore
  private var round = 0

  init(_ met: MetPair) throws {
    keys = met.keys
    devices = try met.copy().paths.map { try Device(path: $0) }
    store = try CloudKeyValueStore(on: devices[0])
  }

  /// Writes so many keys of the first device.
  func change(_ count: Int) throws {
    round += 1
    try store.transaction {
      for number in 0..<count {
        try store.write(
          .string("value \(round)"), for: Fixture.key((number * 7_368_787 + round) % keys))
      }
    }
  }

  func merge() throws { try devices[0].merge(with: devices[1]) }
}
