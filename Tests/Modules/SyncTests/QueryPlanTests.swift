// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

/// That the cost of an exchange follows what has changed, claimed of every statement that it runs.
@Suite struct QueryPlanTests {
  private let clock = ManualClock()

  /// Two devices that have met, with so many entries in two stores.
  private func devices(_ count: Int) throws -> [Device] {
    let devices = try (0..<2).map { _ in try Device.temporary(clock: clock.wallClock) }
    try devices[0].tables.write { connection in
      try connection.run(
        """
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
        INSERT INTO entry SELECT iif(i % 2, 'cloud', 'cloud:other'), printf('key %08d', i), 1,
          printf('value %08d', i), i << 16, (SELECT id FROM replica), i FROM n
        """, [.integer(Int64(count))])
      return ((), [])
    }
    try devices[0].merge(with: devices[1])
    return devices
  }

  /// Changes ten keys on the first device, spread over all, and five of them on the second.
  private func change(_ devices: [Device], _ count: Int) throws {
    for (place, changes) in [(1, 5), (0, 10)] {
      clock.milliseconds += 1
      try devices[place].write(
        (0..<changes).map {
          let number = $0 * count / 10 / 2 * 2 + 1
          return LocalWrite(
            store: "cloud", key: String(format: "key %08d", number),
            value: $0 == 3 ? nil : .integer(Int64(place)))
        })
    }
    // One from the future, which waits.
    try devices[0].write([
      LocalWrite(
        store: "cloud", key: "future", value: 1, wallClock: clock.milliseconds + 3_600_000)
    ])
  }

  @Test func noStatementOfAMergeScansWhatHasNotChanged() throws {
    let devices = try devices(100)
    try change(devices, 100)
    let trace = try StatementTrace.of(devices) {
      let report = try devices[0].merge(with: devices[1])
      #expect(report.transfers.map(\.received) == [5, 11])
      #expect(report.conflicts.count == 4)
      #expect(!report.hasConverged)
      try devices[0].merge(with: devices[1])
      clock.milliseconds += 3_600_000
      try devices[0].merge(with: devices[1])
    }
    // Tables of one merge, of the devices it knows, and of bounded size.
    let small: Set = [
      "peer", "hub", "seen", "former_replica", "mark", "replica", "forgotten", "conflict",
      "sqlite_schema", "CONSTANT", "pragma_database_list",
      "name",  // leaps from store to store
    ]
    let queries = trace.statements.filter { sql in
      ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"].contains { sql.hasPrefix($0) }
    }
    #expect(queries.count > 25)
    for (sql, steps) in try plans(queries, devices[0], devices[1]) {
      for step in steps where step.hasPrefix("SCAN ") {
        let table = step.split(separator: " ")[1].split(separator: ".").last.map(String.init) ?? ""
        let isNewest =
          step.hasSuffix(" INDEX entry_sequence")
          && sql.contains("ORDER BY sequence_number DESC LIMIT 1")
        #expect(
          isNewest || small.contains(table) || table.hasPrefix("("),
          "\(step): \(sql)")
      }
    }
  }

  private func plans(
    _ queries: some Sequence<String>, _ device: Device, _ sender: Device
  ) throws(KeepsakeError) -> [(String, [String])] {
    var plans: [(String, [String])] = []
    try device.tables.attaching(sender) { () throws(KeepsakeError) in
      plans = try explain(queries, device)
    }
    return plans
  }

  private func explain(
    _ queries: some Sequence<String>, _ device: Device
  ) throws(KeepsakeError) -> [(String, [String])] {
    try device.tables.access { connection in
      try queries.map { sql in
        (sql, try connection.all("EXPLAIN QUERY PLAN " + sql) { $0.text(3) })
      }
    }
  }

  @Test func thePagesThatAMergeLooksAtDoNotGrowWithTheEntries() throws {
    let traces = try [10_000, 100_000].map { count in
      let devices = try devices(count)
      try change(devices, count)
      return try StatementTrace.of(devices) { try devices[0].merge(with: devices[1]) }
    }
    let pages = traces.map(\.pages)
    // A tree of ten times as many has one level more.
    #expect(pages[1] < pages[0] * 3 / 2, "\(pages) \(traces[1].pagesOf)")
    #expect(pages[0] < 3000, "\(pages)")
  }

  /// A local store has no cursor, so the index is walked from its beginning.
  @Test func aNamedLocalStoreMakesAMergeLookUpNoRowThatWasRead() throws {
    let devices = try devices(10_000)
    try change(devices, 10_000)
    let options = MergeOptions(stores: ["cloud", "cloud:other", "local"])
    let trace = try StatementTrace.of(devices) {
      try devices[0].merge(with: devices[1], options: options)
    }
    #expect(trace.pages < 6000, "\(trace.pages) \(trace.pagesOf)")
  }
}
