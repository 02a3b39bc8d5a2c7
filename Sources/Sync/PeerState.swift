// SPDX-License-Identifier: Apache-2.0
//
// What a device remembers of another, per store, and whether two memories fit together.
//
// A cursor says "I have read yours up to here", which is true only of the state that was read. A
// file may since have been copied, or replaced by a backup of itself. So each reading has a token,
// and each direction its own. The sender writes the token (`token`) in a transaction of its own,
// beside what the reader last read under (`theirRead`), and the reader reads no further than the
// sender's local sequence number at that transaction. It writes the token with its cursor
// (`readToken`).
//
// A file that knows a token therefore has everything that was read under it, whenever it was
// copied. A crash leaves the reader with a token that the sender still knows; a sender
// that is an older state does not know what was read of the newer one.

import KeepsakeDevice
import KeepsakeValues

package struct PeerState: Equatable, Sendable {
  /// Their local sequence number up to which this device has read.
  package var cursor: Int64 = 0
  /// This device's local sequence number up to which they have read, as far as this one knows.
  package var acked: Int64 = 0
  /// Under which this device last read from them.
  package var readToken: ExchangeToken?
  /// The last two under which they were let read; a second merge at the same time may still use the
  /// one before.
  package var token: ExchangeToken?
  package var prior: ExchangeToken?
  /// Under which they had last read when `token` was written.
  package var theirRead: ExchangeToken?

  package init(
    cursor: Int64 = 0, acked: Int64 = 0, readToken: ExchangeToken? = nil,
    token: ExchangeToken? = nil, prior: ExchangeToken? = nil, theirRead: ExchangeToken? = nil
  ) {
    (self.cursor, self.acked, self.readToken) = (cursor, acked, readToken)
    (self.token, self.prior, self.theirRead) = (token, prior, theirRead)
  }

  private func knows(_ other: ExchangeToken?) -> Bool {
    other == nil || other == token || other == prior || other == theirRead
  }

  /// Whether a hub that remembers this device so stands where this device has left it. Each reading
  /// of the hub, and each that it does, changes that.
  package func fits(_ hubs: PeerState) -> Bool {
    readToken != nil && readToken == hubs.token && acked == hubs.cursor && knows(hubs.readToken)
  }

  /// The number of the last reading that this side, as the sender, knows of.
  var round: Int64 { max(token?.round ?? 0, theirRead?.round ?? 0) }

  /// Which of two devices does not have the state that the other one met.
  struct Doubt: OptionSet {
    let rawValue: Int
    static let sender = Doubt(rawValue: 1)
    static let reader = Doubt(rawValue: 2)
  }

  /// Whether the reader's cursor is one into this sender's state.
  ///
  /// - Parameters:
  ///   - reader: what the reader remembers of this sender.
  ///   - lseq: the sender's last local sequence number.
  func doubt(reader: PeerState, lseq: Int64) -> Doubt {
    if knows(reader.readToken) {
      // A cursor beyond the end was written by no reading of ours.
      return reader.cursor > lseq ? .sender : []
    }
    // Two lives of one file: the one that knows fewer readings is the older state. If neither is,
    // both have gone on, and neither may keep its name.
    let other = reader.readToken?.round ?? 0
    return other > round ? .sender : other < round ? .reader : [.sender, .reader]
  }
}
