// SPDX-License-Identifier: Apache-2.0

import Foundation
package import KeepsakeDevice
package import KeepsakeValues

/// What a hub answers: how it stands after the request, and what was asked for.
package struct HubAnswer: Sendable, Equatable {
  package var hub: ReplicaID
  /// Under which replica IDs it was met before it was restored.
  package var former: [ReplicaID]
  /// Milliseconds since 1970 by its clock.
  package var time: Int64
  /// The last sequence number that it has given.
  package var seq: Int64
  /// The one up to which it has forgotten deletions.
  package var forgotten: Int64
  /// Whether it has met any device before.
  package var hasMet: Bool
  /// Of the stores that were asked for, and of all that it has.
  package var stores: [ByteText: Store]
  package var revocations: [ReplicaID: HybridTimestamp]
  /// Rows that wait for their time.
  package var waiting: Int
  /// Rows that count otherwise because of the revocations of the request.
  package var revoked = 0
  package var page: Page?
  package var pushed: Pushed?

  package init(
    hub: ReplicaID, former: [ReplicaID], time: Int64, seq: Int64, forgotten: Int64, hasMet: Bool,
    stores: [ByteText: Store], revocations: [ReplicaID: HybridTimestamp], waiting: Int
  ) {
    (self.hub, self.former, self.time, self.seq) = (hub, former, time, seq)
    (self.forgotten, self.hasMet, self.stores) = (forgotten, hasMet, stores)
    (self.revocations, self.waiting) = (revocations, waiting)
  }

  package struct Store: Sendable, Equatable {
    /// What the hub remembers of the device that asks.
    package var peer: PeerState
    /// The sequence number of its newest row.
    package var last: Int64

    package init(peer: PeerState, last: Int64) { (self.peer, self.last) = (peer, last) }
  }

  package struct Page: Sendable, Equatable {
    /// By sequence number.
    package var rows: [Row]
    /// Up to where there are no others; beyond it there are, if `hasMore`.
    package var through: Int64
    package var hasMore: Bool
    /// The hub's version vector; with an offer, and of the moment of the offer.
    package var seen: [HubRequest.Seen]

    package init(rows: [Row], through: Int64, hasMore: Bool, seen: [HubRequest.Seen]) {
      (self.rows, self.through, self.hasMore, self.seen) = (rows, through, hasMore, seen)
    }
  }

  package struct Row: Sendable, Equatable {
    package var entry: Entry
    package var seq: Int64

    package init(_ entry: Entry, seq: Int64) { (self.entry, self.seq) = (entry, seq) }
  }

  /// What became of pushed rows.
  package struct Pushed: Sendable, Equatable {
    /// The hub's sequence number before the first and after the last.
    package var before: Int64
    package var after: Int64
    package var changed = 0
    package var held = 0
    /// Rows that lost to what the device had read before: it has to read that again.
    package var answered = 0

    package init(before: Int64, after: Int64) { (self.before, self.after) = (before, after) }
  }
}

/// Why a hub does nothing of a request.
package enum HubRefusal: Error, Equatable {
  /// There are rows that the device has not read.
  case behind
  /// The hub, or what it remembers of the device, is not as the device expects.
  case moved
}

/// The cause of a failure where a request was larger than the hub takes.
package struct HubPageRefusal: Error {
  package init() {}
}

/// The way to a hub.
package protocol HubChannel {
  /// Names the hub in errors, as its address.
  var name: String { get }

  /// The replica ID of the hub when it was met last; nil where that is not known. Then a meeting
  /// has to begin with a look.
  var lastMet: ReplicaID? { get }
  /// Keeps it for the next meeting.
  func noteMet(_ hub: ReplicaID)

  /// - Returns: the answer, or why nothing was done.
  /// - Throws: when it is not known whether anything was.
  func send(
    _ request: HubRequest
  ) throws(KeepsakeError) -> Result<HubAnswer, HubRefusal>

  /// Lets time pass before it is tried again.
  func pause(_ duration: Duration)
}

extension HubChannel {
  package func pause(_ duration: Duration) { Thread.sleep(for: duration) }
  package var lastMet: ReplicaID? { nil }
  package func noteMet(_ hub: ReplicaID) {}
}
