// SPDX-License-Identifier: Apache-2.0
//
// Group commit: all pieces of a batch are one transaction. No piece is answered before the commit,
// not even one that was refused: that may be because of what another one did. If the transaction
// fails, each piece runs in one of its own, as one account may be what lets all fail. SQLite writes
// nothing for a transaction that has changed nothing.

import KeepsakeHubServer
import KeepsakeStorage

/// Pieces of work that are committed together.
final class Batch {
  /// A batch takes no more pieces after so many: a small push waits for all of its batch.
  private static let (mostPieces, mostChanges) = (256, 4_000)

  private let pieces: [Piece]
  /// How many of them the last transaction took.
  private var taken = 0
  private var outcomes: [Piece.Outcome] = []

  init(_ pieces: [Piece]) { self.pieces = pieces }

  /// - Returns: what is left for another batch.
  func run(on sole: SoleConnection) -> ArraySlice<Piece> {
    do {
      outcomes = try commit(pieces[...], on: sole)
    } catch {
      // If not even the transaction can begin, nothing that waits can be done.
      let (failed, isShared) = (pieces.prefix(taken == 0 ? pieces.count : taken), taken > 1)
      outcomes = failed.map { piece in
        isShared ? alone(piece, on: sole) : Piece.Outcome(end: { piece.fail(error) })
      }
    }
    return pieces.dropFirst(outcomes.count)
  }

  private func alone(_ piece: Piece, on sole: SoleConnection) -> Piece.Outcome {
    do {
      return try commit([piece], on: sole)[0]
    } catch {
      return Piece.Outcome(end: { piece.fail(error) })
    }
  }

  /// - Throws: when nothing of it has happened.
  private func commit(
    _ pieces: ArraySlice<Piece>, on sole: SoleConnection
  ) throws -> [Piece.Outcome] {
    var outcomes: [Piece.Outcome] = []
    taken = 0
    do {
      try sole.access { connection in
        let start = connection.totalChanges
        try connection.transaction(.immediate) { connection in
          for piece in pieces.prefix(Self.mostPieces) {
            taken += 1
            outcomes.append(try piece.run(connection))
            guard connection.totalChanges - start < Self.mostChanges else { break }
          }
          if connection.totalChanges != start { try checkNames(sole, connection) }
        }
      }
      return outcomes
    } catch {
      try sole.saveLostLog()
      throw error
    }
  }

  private func checkNames(_ sole: SoleConnection, _ connection: Connection) throws {
    do {
      try sole.checkNames()
    } catch {
      // If the file was replaced, its log may be all that is left.
      do {
        try connection.refuseMovedFile()
      } catch {
        connection.keepLog(true)
        throw error
      }
      throw error
    }
  }

  /// Calls back for each piece.
  ///
  /// - Returns: the new marks, by account.
  func end() -> [Int64: HubMark] {
    var marks: [Int64: HubMark] = [:]
    for outcome in outcomes {
      outcome.end()
      if let account = outcome.account, let newest = outcome.newest { marks[account] = newest }
    }
    return marks
  }
}
