// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeMigrations
import TestSupport
import Testing

@Suite struct MigrationTests {
  private static let folder = Checkout.path("Migrations")

  @Test func everyFileIsListedInOrderAndEmbeddedAsItIs() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder)
      .filter { $0.hasSuffix(".sql") }.sorted()
    #expect(Migrations.all.map { $0.name + ".sql" } == files)
    for (index, migration) in Migrations.all.enumerated() {
      let number = String(repeating: "0", count: 3 - "\(index + 1)".count) + "\(index + 1)"
      #expect(migration.name.hasPrefix("V\(number)_"))
      let path = Self.folder + "/" + migration.name + ".sql"
      #expect(try String(contentsOfFile: path, encoding: .utf8) == migration.sql)
    }
  }

  @Test func theHashOfAMigrationIsThatOfItsText() throws {
    for migration in Migrations.all {
      let path = Self.folder + "/" + migration.name + ".sql"
      let ending = try Command.run(Command.find("sha256sum"), [path])
      #expect(ending.stdout.prefix(64) == migration.hash)
    }
  }

  @Test(arguments: ["", "/Hub", "/Postgres"])
  func aShippedMigrationNeverChanges(of folder: String) throws {
    let folder = Self.folder + folder
    let files = try FileManager.default.contentsOfDirectory(atPath: folder)
      .filter { $0.hasSuffix(".sql") }.sorted()
    let shipped = try String(contentsOfFile: folder + "/SHIPPED", encoding: .utf8)
      .split(separator: "\n").map(String.init)
    let lines = try files.prefix(shipped.count).map { file in
      let ending = try Command.run(Command.find("sha256sum"), [file], in: folder)
      return String(ending.stdout.dropLast())
    }
    #expect(shipped == lines)
  }

  /// Opening compares a file with it, and need not run the migrations to know what they make.
  @Test func theSchemaIsWrittenDownAsTheMigrationsMakeIt() throws {
    let ending = try Command.run(
      Command.find("sqlite3"),
      [
        ":memory:", "\n" + Migrations.all.map(\.sql).joined(separator: "\n"),
        """
        SELECT group_concat('-- ' || name || char(10) || sql || ';' || char(10), '')
        FROM (SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name)
        """,
      ], in: Self.folder)
    #expect(ending == Ending(stdout: Migrations.schema + "\n"), "Migrations/Schema.txt")
  }

  @Test func everyColumnSaysWhatItMeansAndWhoWritesIt() throws {
    for migration in Migrations.all {
      // A column starts a line with its name and type; its comment may go on below.
      let columns = migration.sql.split(separator: "\n").enumerated().filter {
        $0.element.wholeMatch(of: #/\ \ [a-z_]+\ +(TEXT|INTEGER|ANY|REAL|BLOB)[\ ,;].*/#) != nil
      }
      #expect(columns.count >= migration.sql.components(separatedBy: "CREATE TABLE").count)
      let lines = migration.sql.split(separator: "\n")
      for (index, column) in columns {
        let comment = lines[index...].prefix { $0 == column || $0.hasPrefix("      ") }
        let text = comment.joined(separator: " ")
        #expect(text.contains("--") && text.hasSuffix(")"), "\(column)")
      }
    }
  }
}
