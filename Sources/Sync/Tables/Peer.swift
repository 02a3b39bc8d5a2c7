// SPDX-License-Identifier: Apache-2.0

public import KeepsakeDevice
public import KeepsakeValues

extension Device {
  /// Another device that this one has synced with.
  public struct Peer: Sendable, Equatable {
    /// What was synced of one store.
    public struct Progress: Sendable, Equatable {
      /// The store's name on the device.
      public let store: String
      /// Their sequence number up to which this device has read them.
      public let read: Int64
      /// This device's sequence number up to which they had read it at the last sync.
      public let sent: Int64
    }

    /// Its replica ID.
    public let id: ReplicaID
    /// The last sync both ways, by this device's clock; to the day if nothing was new. Nil if there
    /// was none.
    public let lastSync: Date?
    /// One for each store that was synced, by name.
    public let stores: [Progress]
  }

  /// All that this device has synced with, the longest ago first.
  ///
  /// - Throws: `KeepsakeError` if the file cannot be read.
  public func peers() throws(KeepsakeError) -> [Peer] {
    try tables.access { try $0.peers.all() }.map { Peer($0, $1) }
      .sorted { ($0.lastSync ?? .distantPast, $0.id) < ($1.lastSync ?? .distantPast, $1.id) }
  }
}

extension Device.Peer {
  fileprivate init(_ id: ReplicaID, _ rows: [ByteText: PeerRow]) {
    let time = rows.values.map(\.syncedAt).max() ?? 0
    self.id = id
    lastSync = time > 0 ? Date(milliseconds: time) : nil
    stores = rows.sorted { $0.key < $1.key }.map { store, row in
      Progress(
        store: store.string, read: row.cursor.sequenceNumber, sent: row.own.sequenceNumber)
    }
  }
}
