// SPDX-License-Identifier: Apache-2.0

import Faults
import Foundation
import TestSupport

/// The tables of a file, and statements that no device would run on them.
struct SQLMutations {
  private let tables: [(name: String, columns: [String])]
  private let indices: [String]

  init(_ database: PlainDatabase) throws {
    let names = try database.texts(
      "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    tables = try names.map { name in
      (name, try database.texts("SELECT name FROM pragma_table_info('\(name)')"))
    }
    indices = try database.texts(
      "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
  }

  func statements(_ count: Int, using generator: inout SeededGenerator) -> [String] {
    let body = (0..<count).map { _ in
      Int.random(in: 0..<5, using: &generator) == 0
        ? ofSchema(using: &generator) : ofRows(using: &generator)
    }
    // Without STRICT any column takes any type. The last statement restores the schema.
    guard Int.random(in: 0..<3, using: &generator) == 0 else { return body }
    let table = tables.randomElement(using: &generator)?.name ?? "entry"
    func replace(_ old: String, by new: String) -> String {
      """
      UPDATE sqlite_schema SET sql = replace(sql, '\(old)', '\(new)') WHERE name = '\(table)'; \
      PRAGMA writable_schema = RESET; PRAGMA writable_schema = ON
      """
    }
    let rows = (0..<count).map { _ in
      ofRows(table: tables.first { $0.name == table }, using: &generator)
    }
    return [replace("STRICT", by: "/*S*/")] + rows + body + [replace("/*S*/", by: "STRICT")]
  }

  private func ofRows(
    table: (name: String, columns: [String])? = nil, using generator: inout SeededGenerator
  ) -> String {
    // Commands read most of their data from `entry`.
    let usual = Int.random(in: 0..<2, using: &generator) == 0
    let other = tables.randomElement(using: &generator)
    guard let table = table ?? (usual ? tables.first { $0.name == "entry" } : other),
      let column = table.columns.randomElement(using: &generator)
    else { return "" }
    let row = Int.random(in: 0..<4, using: &generator)
    let chosen = "\(column) IS (SELECT \(column) FROM \(table.name) LIMIT 1 OFFSET \(row))"
    let value = UnusualValues.random(column, table.name, using: &generator)
    switch Int.random(in: 0..<8, using: &generator) {
    case 0: return "DELETE FROM \(table.name)"
    case 1: return "DELETE FROM \(table.name) WHERE \(chosen)"
    case 2, 3:
      let columns = table.columns.map { $0 == column ? "\(value) AS \($0)" : $0 }
      return """
        INSERT OR REPLACE INTO \(table.name) (\(table.columns.joined(separator: ", "))) \
        SELECT \(columns.joined(separator: ", ")) FROM \(table.name) LIMIT 3 OFFSET \(row)
        """
    case 4: return "UPDATE OR REPLACE \(table.name) SET \(column) = \(value)"
    default: return "UPDATE OR REPLACE \(table.name) SET \(column) = \(value) WHERE \(chosen)"
    }
  }

  private func ofSchema(using generator: inout SeededGenerator) -> String {
    let table = tables.randomElement(using: &generator) ?? ("entry", ["key"])
    let column = table.columns.randomElement(using: &generator) ?? "key"
    let index = indices.randomElement(using: &generator) ?? "entry_sequence"
    let number = UnusualValues.numbers.randomElement(using: &generator) ?? "0"
    let page = Int.random(in: 0...30, using: &generator)
    let name = [table.name, index].randomElement(using: &generator) ?? index
    let statements = [
      "DROP TABLE \(table.name)", "DROP INDEX \(index)",
      "ALTER TABLE \(table.name) ADD COLUMN more", "ALTER TABLE \(table.name) RENAME TO other",
      "ALTER TABLE \(table.name) DROP COLUMN \(column)",
      "ALTER TABLE \(table.name) RENAME COLUMN \(column) TO other",
      "CREATE TRIGGER t AFTER INSERT ON \(table.name) BEGIN DELETE FROM entry; END",
      "CREATE TRIGGER t BEFORE UPDATE ON \(table.name) BEGIN SELECT randomblob(1e8); END",
      "CREATE VIEW v AS SELECT * FROM \(table.name)",
      "CREATE INDEX i ON \(table.name) (abs(\(column)))", "CREATE INDEX i ON entry (value)",
      "CREATE UNIQUE INDEX i ON \(table.name) (\(column))",
      "CREATE TABLE more (a GENERATED ALWAYS AS (randomblob(1e8)))",
      "CREATE VIRTUAL TABLE f USING fts5(x)", "CREATE TABLE sqlite_stat1 (tbl, idx, stat)",
      "ANALYZE", "PRAGMA user_version = \(number)", "PRAGMA application_id = \(number)",
      "PRAGMA journal_mode = DELETE",
      "PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM",
      "PRAGMA journal_mode = DELETE; PRAGMA page_size = 65536; VACUUM",
      "PRAGMA auto_vacuum = 1; VACUUM", "DELETE FROM migration",
      "INSERT INTO migration VALUES ('V999_future', '')",
      "INSERT INTO migration VALUES (x'ff', x'ff')",
      "UPDATE sqlite_schema SET rootpage = \(page) WHERE name = '\(name)'",
      "UPDATE sqlite_schema SET sql = NULL WHERE name = '\(name)'",
      "UPDATE sqlite_schema SET type = 'view' WHERE name = '\(name)'",
      "UPDATE sqlite_schema SET tbl_name = 'entry' WHERE name = '\(name)'",
      "DELETE FROM sqlite_schema WHERE name = '\(name)'",
      "UPDATE sqlite_schema SET sql = replace(sql, 'NOT NULL', '') WHERE name = '\(table.name)'",
      "UPDATE sqlite_schema SET sql = replace(sql, '\(column)', 'x') WHERE name = '\(table.name)'",
      "UPDATE sqlite_schema SET sql = replace(sql, 'WITHOUT ROWID', '')",
      "INSERT INTO sqlite_schema SELECT type, name || '2', name || '2', rootpage, "
        + "replace(sql, name, name || '2') FROM sqlite_schema WHERE name = '\(table.name)'",
    ]
    return statements.randomElement(using: &generator) ?? ""
  }
}
