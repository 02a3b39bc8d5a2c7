// SPDX-License-Identifier: Apache-2.0

/// What a hub accepts of one account at most. `GET /v1` lists the limits by these names.
package struct HubLimits: Sendable, Equatable {
  /// A device's longest one has 2,049, and two more for each `%` and `/` of its store's name.
  /// PostgreSQL's index takes 2,700.
  package var keyBytes = 2_560
  /// Of one row.
  package var rowBytes = 2 << 20
  /// Of all rows, deleted ones too.
  package var rows = 100_000
  /// Of all keys and rows.
  package var bytes = 64 << 20
  /// Bytes of the vectors of a push, and of all vectors that are kept.
  package var vectorBytes = 512 << 10
  /// Of a device's mark.
  package var markBytes = 256
  /// Of a replica ID.
  package var replicaBytes = 64
  /// Devices of an account.
  package var devices = 64
  /// Bytes of a device's name.
  package var nameBytes = 200
  package var pageRows = 1_000
  package var pageBytes = 1 << 20
  /// The newest marks that an account keeps, and more of the last day.
  package var marks = 1_000
  package var marksOfDay = 10_000
  /// The replica IDs that it remembers: those that have pushed last.
  package var replicas = 1_000
  /// One of so many pushes, by chance, drops what is beyond that.
  package var pushesToTrim: Int64 = 100

  package init() {}
}
