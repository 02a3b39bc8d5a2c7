// SPDX-License-Identifier: Apache-2.0
//
// New identities for files that have one past. Whether two files have is found by reading both, at
// two versions; a merge by a version that knows no lease may come between, and would look like a
// copy. So both are read again in the transaction that gives the identity: while it is under way no
// token can be written there, and a token is written there before anything is read under it.

import KeepsakeDevice
import KeepsakeValues

extension Meeting {
  /// Both sides, one after the other.
  struct Look {
    let left: Side
    let right: Side
  }

  func look() throws(KeepsakeError) -> Look { Look(left: try side(left), right: try side(right)) }

  /// The places of the devices that need a new identity before these two may meet: for having one
  /// identity, the second.
  func doubtful(_ look: Look) -> Set<Int> {
    let (a, b) = (look.left, look.right)
    if a.replica == b.replica { return [right] }
    var doubtful: Set<Int> = []
    func add(_ doubt: PeerState.Doubt, _ sender: Int) {
      if doubt.contains(.sender) { doubtful.insert(sender) }
      if doubt.contains(.reader) { doubtful.insert(other(sender)) }
    }
    for (mine, theirs) in zip(a.memory, b.memory) {
      add(mine.doubt(reader: theirs, lseq: a.lseq), left)
      add(theirs.doubt(reader: mine, lseq: b.lseq), right)
    }
    return doubtful
  }

  /// Gives the device at `place` a new identity, if it still needs one.
  ///
  /// - Parameters:
  ///   - look: where that was found.
  ///   - isOtherNew: whether the other side has got a new identity since.
  /// - Throws: `KeepsakeError`, also when it needs none any more.
  func rotate(
    _ place: Int, to id: ReplicaID, after look: Look, isOtherNew: Bool
  ) throws(KeepsakeError) {
    let known = place == left ? look.right : look.left
    let core = devices[place].core
    try core.withSender(devices[other(place)].core) { () throws(KeepsakeError) in
      try core.write { connection in
        var replica = try ReplicaState(connection)
        let peer =
          try isOtherNew
          ? known.replica
          : connection.first("SELECT id FROM sender.replica") { ReplicaID(rawValue: $0.integer(0)) }
            ?? known.replica
        let mine = try Side(connection, of: peer, stores)
        let theirs =
          isOtherNew ? known : try Side(connection, in: "sender", of: replica.id, stores)
        let now =
          place == left ? Look(left: mine, right: theirs) : Look(left: theirs, right: mine)
        guard doubtful(now).contains(place) else { throw Merge.interrupted(devices[place].path) }
        try connection.rotate(&replica, to: id)
        return ((), [])
      }
    }
  }
}

extension Merge {
  /// Looks again after each new identity: two copies of a third file are found one by one.
  static func rotateCopies(
    _ meetings: [Meeting], among places: some Sequence<Int>, _ report: inout MergeReport,
    using generator: inout some RandomNumberGenerator
  ) throws(KeepsakeError) {
    let places = Set(places)
    var rotated: Set<Int> = []
    repeat {
      rotated = []
      var looks: [(Meeting, Meeting.Look)] = []
      for meeting in try meetings + sharersOfIdentity(meetings) {
        looks.append((meeting, try meeting.look()))
      }
      for (meeting, look) in looks {
        for place in meeting.doubtful(look).intersection(places).subtracting(rotated).sorted() {
          try meeting.rotate(
            place, to: .random(using: &generator), after: look,
            isOtherNew: rotated.contains(meeting.other(place)))
          rotated.insert(place)
          report.events.append(.cloneDetected(device: place))
        }
      }
    } while !rotated.isEmpty
  }

  /// Pairs that do not meet and have one identity.
  private static func sharersOfIdentity(_ meetings: [Meeting]) throws(KeepsakeError) -> [Meeting] {
    var first: [ReplicaID: Meeting] = [:]
    var pairs: [Meeting] = []
    for meeting in meetings where meeting.left == 0 {
      let id = try meeting.devices[meeting.right].replica()
      if let other = first[id] {
        pairs.append(Meeting(meeting.devices, other.right, meeting.right, stores: meeting.stores))
      }
      first[id] = first[id] ?? meeting
    }
    return pairs
  }
}
