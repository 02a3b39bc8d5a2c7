// SPDX-License-Identifier: Apache-2.0
//
// The schema's history. A shipped migration is never edited: `SHIPPED` holds its checksum.
// A new one gets the next number, a line here, one in Package.swift and one in `SHIPPED`, and what
// it makes goes to `Schema.txt`, which a test compares with it.

/// One step of the schema, applied once to every file.
package struct Migration: Sendable {
  /// `V001_initial`; also its name in the file's own list of applied migrations.
  package let identifier: String
  package let sql: String
}

package enum Migrations {
  /// Every step, in order.
  package static let all = [
    Migration(identifier: "V001_initial", sql: text(PackageResources.V001_initial_sql)),
    Migration(identifier: "V002_void", sql: text(PackageResources.V002_void_sql)),
    Migration(identifier: "V003_grave", sql: text(PackageResources.V003_grave_sql)),
    Migration(identifier: "V004_unsent", sql: text(PackageResources.V004_unsent_sql)),
  ]

  /// What all steps make, as `sqlite_schema` has it: the name of each object in a comment, its
  /// text, a semicolon; in the order of the names.
  package static var schema: String { text(PackageResources.Schema_txt) }

  /// The schema version that this code writes; `replica.min_writer` is compared with it.
  package static var version: Int { all.count }

  /// The oldest schema version that may write a new file.
  package static let oldestWriter = 3

  /// `PRAGMA application_id` of every file of ours: "KEEP" in ASCII.
  package static let applicationID: Int32 = 0x4B45_4550

  private static func text(_ bytes: [UInt8]) -> String {
    String(decoding: bytes, as: UTF8.self)
  }
}
