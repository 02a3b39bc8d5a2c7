// SPDX-License-Identifier: Apache-2.0
//
// The history of the schema of a hub in PostgreSQL. `../Migrations.swift` says how to add to it.
// Each runs in the transaction that notes it, so it holds nothing that cannot, as
// `CREATE INDEX CONCURRENTLY`; a hub of the version before may be serving meanwhile, and after it.

package enum PostgresMigrations {
  /// Every step, in order.
  package static let all = [String(decoding: PackageResources.V001_initial_sql, as: UTF8.self)]
}
