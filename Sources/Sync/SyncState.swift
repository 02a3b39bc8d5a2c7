// SPDX-License-Identifier: Apache-2.0

public import Foundation
package import KeepsakeDevice
import KeepsakeValues

/// How a store that syncs stands with other devices.
public enum SyncState: Sendable, Hashable {
  /// It has exchanged nothing with another device: no other device has what is set here, and this
  /// one has nothing of theirs.
  case neverMet
  /// Another device has all that was written here.
  ///
  /// - Parameter asOf: when they last met, to the day where nothing was exchanged; what others have
  ///   written since is not known here.
  case upToDate(asOf: Date)
  /// So many keys were written here since, and no other device knows of it.
  case pending(changes: Int, asOf: Date)
}

extension Device {
  /// How a store stands with other devices, by what this device remembers of its exchanges.
  ///
  /// A device that has read something from here by a one-way merge leaves no trace, and does not
  /// count. O(what is pending).
  package func syncState(of store: String) throws(KeepsakeError) -> SyncState {
    try core.survey { connection in
      let met = try connection.first(
        """
        SELECT max(last_met), max(acked) FROM peer
        WHERE store = ?1 AND (read_token IS NOT NULL OR acked > 0)
        """, [.text(store)]
      ) { ($0.integer(0), $0.integer(1)) }
      guard let (time, acknowledged) = met, time > 0 else { return .neverMet }
      let pending = try connection.first(
        """
        SELECT count(*) FROM entry INDEXED BY entry_lseq
        WHERE lseq > ?1 AND store = ?2
          AND origin IN \(Identity.own)
        """, [.integer(acknowledged), .text(store)]
      ) { Int($0.integer(0)) }
      let asOf = Date(milliseconds: time)
      guard let pending, pending > 0 else { return .upToDate(asOf: asOf) }
      return .pending(changes: pending, asOf: asOf)
    }
  }
}
