// SPDX-License-Identifier: Apache-2.0

package import KeepsakeValues

/// Whether an incoming row is applied, and which write is logged as a conflict.
package struct Decision: Equatable, Sendable {
  /// Which of the two writes lost unseen, and is logged.
  package enum Loser: Sendable { case local, incoming }

  /// Whether the row replaces the local one.
  package let applies: Bool
  package let loser: Loser?

  package init(applies: Bool, loser: Loser?) { (self.applies, self.loser) = (applies, loser) }
}

/// Decides between a local row and an incoming one of the same key.
///
/// - Parameters:
///   - receiverCovers: whether the receiver has read the incoming write before, or what beat it.
///   - giverCovers: whether the giver has read the local write, or what beat it.
package func decide(
  local: Entry?, incoming: Entry, receiverCovers: @autoclosure () throws -> Bool,
  giverCovers: @autoclosure () throws -> Bool
) rethrows -> Decision {
  guard let local else { return Decision(applies: true, loser: nil) }
  let wins = incoming.beats(local)
  if local.content == incoming.content { return Decision(applies: wins, loser: nil) }
  // The winner's file is the giver here, and the receiver below. If what it has read is noted too
  // low, a conflict is logged that is none: see `VersionVectors`.
  if wins { return Decision(applies: true, loser: try giverCovers() ? nil : .local) }
  return Decision(applies: false, loser: try receiverCovers() ? nil : .incoming)
}
