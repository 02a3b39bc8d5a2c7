// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeMigrations
import KeepsakeValues
import TestSupport
import Testing

/// A file with no log beside it that is refused, or of which a row is.
@Suite struct RefusedFileTests {
  private let folder: Folder
  private var path: String { folder.path + "/device" }

  init() throws { folder = try Folder() }

  private func shell(_ sql: String) throws { try folder.shell("sqlite3", "device", sql) }

  /// All names, those of SQLite's own files too.
  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  /// Opens the file in each way, and by the command, which name the problem and change nothing.
  private func expectRefusal(_ problem: String) throws {
    let (before, listing) = (try Data(contentsOf: folder.url("device")), try names())
    // In write-ahead-log mode: SQLite makes an empty log when it reads such a file.
    try #require(before[18] == 2)
    for access in [Device.Access.create, .existing, .readOnly] {
      let error = #expect(throws: KeepsakeError.self) { try Device(path: path, access: access) }
      #expect(error?.description == "\(path): \(problem)")
      #expect(try names() == listing, "\(access)")
    }
    try folder.expect("get", "device", "k", says: "kvsync: device: \(problem)\n", code: 65)
    #expect(try names() == listing)
    #expect(try Data(contentsOf: folder.url("device")) == before)
  }

  /// As development versions made it: one table less, and another hash.
  @Test func aFileOfAnEarlierSchemaStaysAlone() throws {
    let first = Migrations.all[0]
    let start = try #require(first.sql.range(of: "CREATE TABLE forgotten ("))
    let end = try #require(first.sql.range(of: ";", range: start.lowerBound..<first.sql.endIndex))
    var sql = first.sql
    sql.removeSubrange(start.lowerBound..<end.upperBound)
    try folder.write(
      """
      PRAGMA journal_mode = WAL;
      CREATE TABLE migration (name TEXT NOT NULL PRIMARY KEY, hash TEXT NOT NULL);
      \(sql)
      INSERT INTO migration VALUES ('\(first.name)', '\(String(repeating: "0", count: 64))');
      INSERT INTO replica (only, id, timestamp, sequence_number, min_writer) VALUES (1, 7, 0, 0, 1);
      """, to: "sql")
    try shell(".read sql")
    try expectRefusal(
      "it was made by a development version, before the first release; export it with the program "
        + "that made it, and import that into a new file")
  }

  @Test(arguments: [
    ("CREATE TABLE t (x)", "this is not a Keepsake file"),
    ("PRAGMA application_id = 7; CREATE TABLE t (x)", "this is another application's file"),
  ])
  func aFileOfAnotherProgramStaysAlone(_ sql: String, _ problem: String) throws {
    try shell("PRAGMA journal_mode = WAL; \(sql)")
    try expectRefusal("\(problem); name a file that kvsync or an app made")
  }

  private static func code(_ what: String) -> String {
    "it contains a \(what), which no file of ours has; "
      + "do not trust this file; if it is yours, drop the \(what)"
  }

  /// SQLite's own check of the file would evaluate the CHECK.
  @Test(arguments: [
    (
      "UPDATE replica SET min_writer = 99",
      "it needs schema version 99, this program knows version \(Migrations.version); "
        + "update this program"
    ), ("CREATE VIEW v AS SELECT * FROM entry", code("view \"v\"")),
    (
      "CREATE TRIGGER t AFTER INSERT ON entry BEGIN DELETE FROM entry WHERE key = 'k'; END",
      code("trigger \"t\"")
    ),
    (
      "ALTER TABLE entry ADD COLUMN extra ANY",
      "its schema is not one of ours; restore a backup of it"
    ),
    (
      "CREATE TABLE more (a CHECK (a > 0)); INSERT INTO more VALUES (1)",
      "it has a table that is not ours, \"more\"; restore a backup of it"
    ),
  ])
  func anotherSchemaIsRefusedBeforeItsExpressionsAreEvaluated(
    _ sql: String, _ problem: String
  ) throws {
    _ = try Device(path: path)
    try shell(sql)
    try expectRefusal(problem)
  }

  @Test(arguments: [true, false])
  func aDamagedFileStaysAlone(_ lacksItsEnd: Bool) throws {
    let writes = (0..<100).map { LocalWrite(store: "cloud", key: "key \($0)", value: "value") }
    try Device(path: path).write(writes)
    if lacksItsEnd {
      try folder.shell("truncate", "-s", "-1", "device")
      try expectRefusal("the file is damaged (its end is missing); restore a backup of it")
    } else {
      try shell("DROP INDEX entry_sequence")
      try expectRefusal("its schema is not one of ours; restore a backup of it")
    }
  }

  @Test func aFileThatIsFoundDamagedAfterItsOpeningStaysAlone() throws {
    try folder.must("set", "device", "k", "v")
    let whole = try Data(contentsOf: folder.url("device"))
    try shell(
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM "
        + "sqlite_schema WHERE name = 'forgotten') WHERE name = 'hub_held'")
    let damaged = try Data(contentsOf: folder.url("device"))
    #expect(damaged != whole)
    expectError(.corrupt) { try Device(path: path).checkIntegrity() }
    #expect(try names() == ["device"])
    #expect(try Data(contentsOf: folder.url("device")) == damaged)
  }

  // MARK: - A row that SQLite does not read

  /// The newest row is read before each write.
  @Test(
    arguments: [
      ("'cloud', hex(zeroblob(9 << 20)), 1, 'v'", false),
      ("hex(zeroblob(9 << 20)), 'k', 1, 'v'", false),
      ("'cloud', 'huge', 6, zeroblob(18 << 20)", true),
    ], [0, 1000])
  func aRowThatIsFarTooLargeIsRefusedAndTheLogGoesAsUsual(
    _ row: (cells: String, hasName: Bool), number: Int
  ) throws {
    try folder.must("set", "device", "before", "1")
    try shell("INSERT INTO entry SELECT \(row.cells), 1, id, \(number) FROM replica")
    func expectRefusal(_ body: () throws -> Void) {
      let error = #expect(throws: KeepsakeError.self) { try body() }
      #expect(
        error?.description
          == "\(path): it holds more in one row than any device accepts; do not trust this file")
    }
    do {
      let device = try Device(path: path)
      func write(_ key: String) throws {
        try device.write([LocalWrite(store: "cloud", key: key, value: 1)])
      }
      let isWritable = number == 0 || row.hasName
      if isWritable { try write("after") } else { expectRefusal { try write("after") } }
      expectRefusal { try device.forEachEntry { _ in } }
      #expect(try device.entry(store: "cloud", key: "before") != nil)
      #expect(try (device.entry(store: "cloud", key: "after") != nil) == isWritable)
    }
    #expect(try names() == ["device"])
  }
}
