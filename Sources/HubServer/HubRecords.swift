// SPDX-License-Identifier: Apache-2.0
//
// The records that a hub stores. Times are milliseconds since 1970. Keys, rows, vectors and the
// marks of devices are opaque bytes.

/// One account: all the devices of one person.
package struct HubAccount: Sendable, Equatable {
  package let id: Int64
  /// Its number is the account's last sequence number.
  package var newest = HubMark.start
  /// The highest number of a row that was forgotten.
  package var forgotten: Int64 = 0
  package var rows: Int64 = 0
  /// The bytes of all keys and rows.
  package var bytes: Int64 = 0

  package init(id: Int64) { self.id = id }

  /// The hub's clock. It is never before the last push, even if the system's clock was set back: a
  /// device must be able to read what another could push. If the last push is more than a day
  /// ahead, one of the two was wrong: then this is the system's clock, which each device compares
  /// with its own.
  package func clock(at now: Int64) -> Int64 {
    newest.time - now > 86_400_000 ? now : max(now, newest.time)
  }
}

/// The newest row of a key.
package struct HubRow: Sendable, Equatable {
  package var key: [UInt8]
  package var body: [UInt8]
  /// Whether a device may ask the hub to forget the row.
  package var isDeleted: Bool
  /// The account's sequence number of the push.
  package var number: Int64

  package init(key: [UInt8], body: [UInt8], isDeleted: Bool = false, number: Int64 = 0) {
    (self.key, self.body, self.isDeleted, self.number) = (key, body, isDeleted, number)
  }

  package var size: Int64 { Int64(key.count + body.count) }
}

/// A row without its body.
package struct HubRowOutline: Sendable, Equatable {
  package var key: [UInt8]
  package var number: Int64
  package var size: Int64
  package var isDeleted: Bool

  package init(key: [UInt8], number: Int64, size: Int64, isDeleted: Bool) {
    (self.key, self.number, self.size, self.isDeleted) = (key, number, size, isDeleted)
  }
}

/// The vectors of a push: JSON, which a hub cannot unite.
package struct HubVectors: Sendable, Equatable {
  /// The maximum number of vectors that an account keeps.
  package static let most = 100

  /// The account's sequence number after the push.
  package let number: Int64
  package let body: [UInt8]

  package init(number: Int64, body: [UInt8]) { (self.number, self.body) = (number, body) }
}

/// A replica ID that has pushed to a hub.
package struct HubReplica: Sendable, Equatable {
  package let id: String
  /// The account's sequence number after its last push: replica IDs with older pushes are forgotten
  /// first.
  package var number: Int64
  /// The device's mark at that push.
  package var mark: [UInt8]

  package init(id: String, number: Int64, mark: [UInt8]) {
    (self.id, self.number, self.mark) = (id, number, mark)
  }
}

/// A device that may use an account: one token.
package struct HubDevice: Sendable, Equatable {
  /// One more than the highest of the account when it joined; the first is 1.
  package var number: Int64
  package var name: String
  /// SHA-256.
  package var tokenHash: [UInt8]
  package var created: Int64
  package var lastUse: Int64

  package init(number: Int64, name: String, tokenHash: [UInt8], created: Int64) {
    (self.number, self.name, self.tokenHash) = (number, name, tokenHash)
    (self.created, lastUse) = (created, created)
  }
}

/// Lets one more device join an account.
package struct HubInvitation: Sendable, Equatable {
  /// SHA-256.
  package var codeHash: [UInt8]
  package var ends: Int64

  package init(codeHash: [UInt8], ends: Int64) {
    (self.codeHash, self.ends) = (codeHash, ends)
  }
}
