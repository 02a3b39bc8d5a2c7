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
  /// Of the vectors.
  package var vectorBytes = 512 << 10
  /// Of a device's mark.
  package var markBytes = 256
  /// Of a replica ID.
  package var replicaBytes = 64
  /// Devices that are not revoked.
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

/// Why a hub refuses a request. Nothing has changed then.
package enum HubRefusal: Error, Equatable {
  case malformed(String)
  /// The hub knows no such token.
  case token
  /// A device of the account has revoked this one.
  case revoked(date: Int64, by: Int64)
  /// There is no such invitation, or it was used, or has ended.
  case code
  /// The account has no device with this number.
  case noDevice(Int64)
  /// There is another account with this ID.
  case taken
  /// The account is kept for another replica, for a moment.
  case reserved
  /// A part of the request exceeds the limit with this name.
  case tooLarge(limit: String, Int, line: Int? = nil)
  /// The account has as much of something as the limit with this name allows.
  case full(limit: String, Int)
}
