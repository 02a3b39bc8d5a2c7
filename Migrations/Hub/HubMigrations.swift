// SPDX-License-Identifier: Apache-2.0
//
// The history of the schema of a hub's file. `../Migrations.swift` says how to add to it; each
// migration sets `user_version` to its number.

package enum HubMigrations {
  /// Every step, in order.
  package static let all = [String(decoding: PackageResources.V001_initial_sql, as: UTF8.self)]

  /// `PRAGMA application_id` of every hub's file: "KHUB" in ASCII.
  package static let applicationID: Int64 = 0x4B48_5542
}
