// SPDX-License-Identifier: Apache-2.0

import Foundation
package import KeepsakeDevice
package import KeepsakeValues

/// One side of an exchange, as the other side and the order of steps (`Exchange`) see it.
///
/// A device's file is one (`FileParty`). No requirement needs a file: a party answers with small
/// values, stores single steps, and offers its rows as tables of a schema named `sender`. So a
/// party may be on another machine, and its rows be staged where the receiver reads them.
///
/// Each function that writes is one transaction, after which the exchange may be cut off.
package protocol Party {
  /// Names it in errors: the path of a file.
  var name: String { get }
  /// Whether it only keeps what others merge.
  var isHub: Bool { get }
  /// Milliseconds since 1970 by the clock that judges what it reads.
  var now: Int64 { get }

  /// The replica ID under which it writes now.
  func replica() throws(KeepsakeError) -> ReplicaID

  /// What it says of itself, and remembers of a peer, from one snapshot.
  func side(
    toward peer: ReplicaID, _ stores: [ByteText]
  ) throws(KeepsakeError) -> PairSnapshot.Side

  /// The synced stores of which it knows anything.
  func syncedStores() throws(KeepsakeError) -> Set<ByteText>

  /// Whether it holds an entry from the future that will win over what it shows.
  func holdsAny() throws(KeepsakeError) -> Bool

  /// Whether it has ever exchanged entries.
  func hasMet() throws(KeepsakeError) -> Bool

  /// Whether any of these stores has entries after its cursor.
  func hasEntries(of stores: [ByteText], after cursors: [Int64]) throws(KeepsakeError) -> Bool

  /// Up to where the timestamps of others stand, by replica ID, where some were revoked.
  func revocations() throws(KeepsakeError) -> [ReplicaID: HybridTimestamp]

  /// Applies revocations, in the order of replica IDs.
  ///
  /// - Parameter id: its replica ID from now on if its present one is among them: it is a copy.
  /// - Returns: how many entries count otherwise now, and whether it is a copy.
  func revoke(
    after limits: [ReplicaID: HybridTimestamp], as id: ReplicaID
  ) throws(KeepsakeError) -> (entries: Int, isCopy: Bool)

  /// Gives it a new replica ID, if `isNeeded` still says so where its own side and the peer's are
  /// read in one transaction.
  ///
  /// - Parameter known: the peer's side, where that has got a new replica ID since it was read.
  func rotate(
    to id: ReplicaID, against peer: any Party, known: PairSnapshot.Side?, _ stores: [ByteText],
    if isNeeded: (_ mine: PairSnapshot.Side, _ theirs: PairSnapshot.Side) -> Bool
  ) throws(KeepsakeError)

  /// Forgets how far it has read a peer, which it reads from the beginning then.
  func rewind(_ peer: ReplicaID, _ stores: [ByteText]) throws(KeepsakeError)

  /// Stores a token under which a reader may read what this party has until then.
  ///
  /// - Parameters:
  ///   - reader: by its replica ID.
  ///   - memory: what the reader remembers of this party, in the order of `stores`.
  ///   - echo: local sequence numbers of what came from the reader, which it does not read.
  func offer(
    _ token: ExchangeToken, to reader: ReplicaID, remembering memory: [PeerState],
    of stores: [ByteText], except echo: EchoRange
  ) throws(KeepsakeError) -> Pull.Offer

  /// Makes the tables of this party those of a schema `sender` of the receiver's connection, to be
  /// read, while `body` runs.
  func lend(
    to receiver: Device, _ body: () throws(KeepsakeError) -> Void
  ) throws(KeepsakeError)

  /// Reads what `pull` is about.
  ///
  /// - Parameter result: gets what was committed, also when this throws.
  func read(_ pull: Pull, _ result: inout Pull.Result) throws(KeepsakeError)

  /// Stores how far a peer has read it, so that tombstones can be collected.
  func acknowledge(
    _ cursors: [(store: ByteText, cursor: Int64)], by peer: ReplicaID
  ) throws(KeepsakeError)

  /// Notes that it has met a peer, at most once a day: for where nothing is exchanged. What a wrong
  /// clock has dated later, of whichever peer, was at the latest now.
  func noteMet(_ peer: ReplicaID, _ stores: [ByteText]) throws(KeepsakeError)

  /// Lets time pass before an exchange with it begins again.
  func pause(_ duration: Duration)
}

extension Party {
  package func pause(_ duration: Duration) { Thread.sleep(for: duration) }
}

extension Thread {
  static func sleep(for duration: Duration) { sleep(forTimeInterval: duration / .seconds(1)) }
}
