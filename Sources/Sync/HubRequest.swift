// SPDX-License-Identifier: Apache-2.0
//
// What a device asks of a hub. A request is one transaction there: all of it happens, or nothing.
//
// A request may be lost, come twice, or come late. Whatever it writes therefore names what the hub
// remembered of the device when the device last heard of it (`expected`): every writing step
// changes that memory, so a request that comes again, or after another one, does nothing.

package import KeepsakeValues

package struct HubRequest: Sendable, Equatable {
  /// The device that asks, by its replica ID.
  package var device: ReplicaID
  /// What it is about; the hub tells of its other stores as well.
  package var stores: [ByteText]
  /// What the device last heard; nil for a request that only looks.
  package var expected: Memory?
  /// What the device remembers, of a request that begins a meeting without a look. The hub does
  /// nothing of it unless that fits what it remembers itself; else it takes what is pushed if the
  /// device has read everything, and makes the offer if there is anything to read then.
  package var recalled: Recollection?
  package var steps: [Step]

  package init(
    device: ReplicaID, stores: [ByteText], expected: Memory? = nil, recalled: Recollection? = nil,
    steps: [Step] = []
  ) {
    (self.device, self.stores) = (device, stores)
    (self.expected, self.recalled, self.steps) = (expected, recalled, steps)
  }

  /// What the device remembers of the hub under one replica ID, in the order of `stores`.
  package struct Recollection: Sendable, Equatable {
    package var hub: ReplicaID
    package var peers: [PeerState]
    /// Every one that the device knows of.
    package var revocations: [ReplicaID: HybridTimestamp]

    package init(
      hub: ReplicaID, peers: [PeerState], revocations: [ReplicaID: HybridTimestamp] = [:]
    ) {
      (self.hub, self.peers, self.revocations) = (hub, peers, revocations)
    }
  }

  /// The hub under one replica ID, and what it remembers of the device, in the order of `stores`.
  package struct Memory: Sendable, Equatable {
    package var hub: ReplicaID
    package var peers: [PeerState]

    package init(hub: ReplicaID, peers: [PeerState]) { (self.hub, self.peers) = (hub, peers) }
  }

  package enum Step: Sendable, Equatable {
    /// The last valid timestamp of replica IDs whose later ones are revoked. The hub applies these
    /// whatever the request expects.
    case revoke([ReplicaID: HybridTimestamp])
    /// A backup of the hub was restored: the hub takes this replica ID, and forgets all devices.
    case rename(ReplicaID)
    /// The hub forgets how far it has read the device.
    case rewind
    case offer(Offer)
    case more(More)
    case push(Push)
    /// How far the device has read the hub, in the order of `stores`.
    case acknowledge([Int64])
  }

  /// A token under which the device reads, and the first rows.
  package struct Offer: Sendable, Equatable {
    package var token: ExchangeToken
    /// What the device remembers of the hub, in the order of `stores`.
    package var memory: [PeerState]
    /// Sequence numbers of rows that came from the device.
    package var echo: EchoRange
    package var page: PageLimit

    package init(token: ExchangeToken, memory: [PeerState], echo: EchoRange, page: PageLimit) {
      (self.token, self.memory, self.echo, self.page) = (token, memory, echo, page)
    }
  }

  /// The next rows of an offer.
  package struct More: Sendable, Equatable {
    package var offer: Offer
    /// The sequence numbers after which they begin, and at which the offer ends.
    package var after: Int64
    package var through: Int64

    package init(_ offer: Offer, after: Int64, through: Int64) {
      (self.offer, self.after, self.through) = (offer, after, through)
    }
  }

  /// Rows that one answer has at most, and bytes of their keys and values after which it takes no
  /// other.
  package struct PageLimit: Sendable, Equatable {
    package var rows: Int
    package var bytes: Int

    package init(rows: Int = 1000, bytes: Int = 1 << 20) { (self.rows, self.bytes) = (rows, bytes) }
  }

  /// Rows of the device that the hub has not read.
  package struct Push: Sendable, Equatable {
    /// Under which the hub reads them.
    package var token: ExchangeToken
    /// The local sequence number of the device that the hub has read up to then.
    package var through: Int64
    /// How far the device has read the hub, in the order of `stores`.
    package var read: [Int64]
    /// Sequence numbers of the hub that the device has itself brought about, and need not read.
    package var own: EchoRange
    /// By local sequence number; deletions that the device has collected are among them.
    package var rows: [Entry]
    /// With the last rows: the version vector of the device.
    package var seen: [Seen]?

    package init(
      token: ExchangeToken, through: Int64, read: [Int64], own: EchoRange, rows: [Entry],
      seen: [Seen]?
    ) {
      (self.token, self.through, self.read) = (token, through, read)
      (self.own, self.rows, self.seen) = (own, rows, seen)
    }
  }

  /// One component of a version vector: the last timestamp of a replica that was seen in a store.
  package struct Seen: Sendable, Equatable {
    package var store: ByteText
    package var origin: ReplicaID
    package var timestamp: HybridTimestamp

    package init(_ store: ByteText, _ origin: ReplicaID, _ timestamp: HybridTimestamp) {
      (self.store, self.origin, self.timestamp) = (store, origin, timestamp)
    }
  }
}
