// SPDX-License-Identifier: Apache-2.0

/// What a hub takes of one account at most.
package struct HubLimits: Sendable, Equatable {
  /// Of the key of a row, and of the name of a store.
  package var keyBytes = 1024
  package var valueBytes = 1 << 20
  /// That have rows, and that one request names.
  package var stores = 256
  /// Whose writes count as seen in a store. Of others the hub says that it has seen nothing, so
  /// that a write may be told as a conflict that is none, and none goes unnoticed.
  package var origins = 1000
  package var revocations = 100
  /// Rows from the future.
  package var held = 10_000
  /// Rows of all kinds: deletions too until they are forgotten, and those that are held.
  package var rows = 100_000
  /// What these cost: `Entry.cost`.
  package var bytes = 64 << 20
  /// Devices, under all the replica IDs that they ever had, of which something is remembered.
  package var replicas = 1000
  /// Replica IDs from before the hub was restored that are told; older ones are forgotten.
  package var former = 100

  package init() {}
}

/// Why a hub does nothing of a request that asking again does not mend.
package enum HubFault: Error, Equatable {
  /// No device asks this.
  case malformed(String)
  /// It is more than a limit of `HubLimits`, which is named, allows.
  case limit(String, String)
}
