// SPDX-License-Identifier: Apache-2.0
//
// The schema's history. A migration of a released version is never edited: `SHIPPED` holds its
// checksum. A new one gets the next number, a line here, one in Package.swift and, with a release,
// one in `SHIPPED`; what all of them make goes to `Schema.txt`, which a test compares with it.

/// One step of the schema, applied once to every file.
package struct Migration: Sendable, Equatable {
  /// `V001_initial`.
  package let name: String
  /// SHA-256 of its text, in hexadecimal digits. A file keeps it, and tells by it another text of
  /// the same name: one from before a release.
  package let hash: String
  package let sql: String

  package init(name: String, hash: String, sql: String) {
    (self.name, self.hash, self.sql) = (name, hash, sql)
  }
}

package enum Migrations {
  /// Every step, in order.
  package static let all = [
    Migration(
      name: "V001_initial",
      hash: "76ccb1f16948b2be9d84beacdf90f03eb344c27b7ad5d46540bcc6d92600264f",
      sql: text(PackageResources.V001_initial_sql))
  ]

  /// What all steps make, as `sqlite_schema` has it: the name of each object in a comment, its
  /// text, a semicolon; in the order of the names.
  package static var schema: String { text(PackageResources.Schema_txt) }

  /// The schema version that this code writes; `replica.min_writer` is compared with it.
  package static var version: Int { all.count }

  /// The oldest schema version that may write a new file.
  package static let oldestWriter = 1

  /// `PRAGMA application_id` of every file of ours: "KEEP" in ASCII.
  package static let applicationID: Int32 = 0x4B45_4550

  private static func text(_ bytes: [UInt8]) -> String {
    String(decoding: bytes, as: UTF8.self)
  }
}
