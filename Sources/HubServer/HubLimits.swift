// SPDX-License-Identifier: Apache-2.0

/// The limits of one account. `GET /v1` lists them by these names.
package struct HubLimits: Sendable, Equatable {
  /// Bytes of a key. A device's longest has 2,049, and two more for each `%` and `/` in its store's
  /// name. PostgreSQL's index allows 2,700.
  package var keyBytes = 2_560
  /// Bytes of one row.
  package var rowBytes = 2 << 20
  /// The number of rows, deleted ones included.
  package var rows = 100_000
  /// Bytes of all keys and rows.
  package var bytes = 64 << 20
  /// Bytes of the vectors of a push, and of all vectors that are kept.
  package var vectorBytes = 512 << 10
  /// Bytes of a device's mark.
  package var markBytes = 256
  /// Bytes of a replica ID.
  package var replicaBytes = 64
  /// Devices of an account.
  package var devices = 64
  /// Bytes of a device's name.
  package var nameBytes = 200
  package var pageRows = 1_000
  package var pageBytes = 1 << 20
  /// How many of the newest marks an account keeps, and how many of those of the last day.
  package var marks = 1_000
  package var marksOfDay = 10_000
  /// How many replica IDs an account remembers: those with the latest pushes.
  package var replicas = 1_000
  /// One in so many pushes, at random, deletes the marks and replica IDs beyond that.
  package var pushesToTrim: Int64 = 100

  package init() {}
}
