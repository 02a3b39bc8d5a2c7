// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

/// Files whose rows another program has written.
@Suite struct BadFileTests {
  private let clock = ManualClock()
  private let good: Device
  private let bad: Device

  init() throws {
    good = try Device.inMemory(identity: ReplicaID(rawValue: 1), clock: clock.wallClock)
    bad = try Device.inMemory(identity: ReplicaID(rawValue: 2), clock: clock.wallClock)
    for (device, key) in [(good, "g"), (bad, "b")] {
      try device.write([LocalWrite(store: "cloud", key: key, value: 1)])
    }
  }

  /// Whatever a file claims, what is written afterwards on either side reaches the other.
  private func checkThatWritesPass() throws {
    for (device, key) in [(good, "later g"), (bad, "later b")] {
      clock.milliseconds += 1
      try device.write([LocalWrite(store: "cloud", key: key, value: 1)])
    }
    try good.merge(with: bad)
    for device in [good, bad] {
      #expect(try Set(device.keys()).isSuperset(of: ["later g", "later b"]))
    }
  }

  @Test(arguments: [
    // Cursors and own marks beyond the newest number, of marks that nobody has.
    "INSERT INTO peer VALUES (1, 'cloud', 1 << 61, 5, 77, 1 << 61, 5, 78, 0)",
    // Marks that repeat, and that are ahead of the entries.
    "INSERT INTO mark VALUES (1, 1, 9), (1 << 60, 2, 9), (1 << 61, 3, 9)",
    "UPDATE replica SET trimmed = 1 << 61",
    "INSERT INTO forgotten VALUES ('cloud', 1 << 61), ('', 5), ('cloud:x', -1)",
    "INSERT OR REPLACE INTO seen VALUES ('cloud', 1, 1 << 62), ('cloud', 0, -1)",
    "INSERT OR REPLACE INTO seen VALUES ('cloud', 2, 1 << 62)",
    "INSERT OR REPLACE INTO former_replica VALUES (1, 1, 'of a newer version', 0)",
    "UPDATE entry SET sequence_number = 1 << 61",
    "UPDATE entry SET timestamp = -1",
    "UPDATE entry SET replica_id = 0",
    "UPDATE entry SET value = NULL",
    "INSERT INTO entry VALUES ('cloud', '', 1, 'x', 1, 1, 99)",
    "INSERT INTO entry VALUES (CAST(x'ff' AS TEXT), CAST(x'fe' AS TEXT), 1, 'x', 1, 1, 99)",
    "INSERT INTO entry VALUES ('cloud', CAST(x'fe' AS TEXT), 1, CAST(x'fd' AS TEXT), 1, 1, 99)",
  ])
  func whateverAFileClaimsLaterWritesPass(statement: String) throws {
    for isKnown in [false, true] {
      if isKnown { try good.merge(with: bad) }
      try bad.execute("DELETE FROM peer", "DELETE FROM entry WHERE sequence_number > 90", statement)
      try good.merge(with: bad)
      try checkThatWritesPass()
      try bad.execute("DELETE FROM peer", "DELETE FROM forgotten", "DELETE FROM mark")
    }
  }

  @Test(arguments: [10_000, 200_000])
  func aVectorKeepsTheNewestIDs(last: Int64) throws {
    try bad.execute(
      """
      WITH RECURSIVE n (i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < \(last))
      INSERT INTO seen SELECT 'cloud', i, i FROM n
      """)
    try good.merge(with: bad)
    let (count, oldest) = try good.tables.read { connection in
      try connection.first("SELECT count(*), min(timestamp) FROM seen") {
        ($0.integer(0), $0.integer(1))
      } ?? (0, 0)
    }
    #expect(count == 4_096)
    #expect(oldest == last - 4_096 + 2)
  }

  @Test func aFileWhoseNumbersAreUsedUpIsRefusedBeforeAnyIsWritten() throws {
    try bad.execute("UPDATE entry SET sequence_number = (1 << 62) - 1")
    expectError(.corrupt) { try good.merge(with: bad) }
    #expect(try good.keys() == ["g"])
  }
}
