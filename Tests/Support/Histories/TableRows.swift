// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues

/// The rows of one table: a device in memory has no file to copy.
struct TableRows {
  let name: String
  let columns: Int32
  let rows: [[Cell]]

  static func all(of device: Device) throws -> [TableRows] {
    try device.core.read { connection in
      let tables = try connection.all(
        """
        SELECT t.name, (SELECT count(*) FROM pragma_table_info(t.name))
        FROM main.sqlite_schema AS t WHERE t.type = 'table' AND t.name <> 'migration'
        """
      ) { ($0.text(0), Int32($0.integer(1))) }
      return try tables.map { name, columns in
        let rows = try connection.all("SELECT * FROM main.\(name)") { row in
          (0..<columns).map { row.cell($0) }
        }
        return TableRows(name: name, columns: columns, rows: rows)
      }
    }
  }

  static func put(_ tables: [TableRows], into device: Device) throws {
    try device.core.write { connection in
      for table in tables {
        try connection.run("DELETE FROM main.\(table.name)")
        let places = (1...table.columns).map { "?\($0)" }.joined(separator: ", ")
        for row in table.rows {
          try connection.run("INSERT INTO main.\(table.name) VALUES (\(places))", row)
        }
      }
      return ((), [])
    }
  }
}
