// SPDX-License-Identifier: Apache-2.0
//
// Group commit. Each piece of work is a savepoint, which is undone alone where the work throws, and
// all of a batch are one transaction. Nothing is said of any piece, not even of one that failed,
// before the commit: it may have failed because of what another one did. Where the commit fails,
// all fail. SQLite writes nothing for a transaction that has changed nothing.

import KeepsakeStorage

/// Pieces of work that are committed together.
final class Batch {
  /// Work that one batch takes no more pieces after: who waits for a small push waits for it.
  private static let (mostPieces, mostChanges) = (256, 4_000)

  private let pieces: [Piece]
  /// How many of them were taken.
  private var taken = 0
  private var outcomes: [Piece.Outcome] = []

  init(_ pieces: [Piece]) { self.pieces = pieces }

  /// - Returns: what is left for another batch.
  func run(on sole: SoleConnection) -> ArraySlice<Piece> {
    do {
      try sole.access { connection in
        let start = connection.totalChanges
        try connection.transaction(.immediate) { connection in
          while taken < min(pieces.count, Self.mostPieces),
            connection.totalChanges - start < Self.mostChanges
          {
            let piece = pieces[taken]
            taken += 1
            outcomes.append(try run(piece, connection, sole))
          }
          if connection.totalChanges != start { try checkNames(sole, connection) }
        }
      }
    } catch {
      // Where not even the transaction can begin, nothing that waits can be done.
      if taken == 0 { taken = pieces.count }
      var error = error
      do { try sole.saveLostLog() } catch let failure { error = failure }
      outcomes = pieces[..<taken].map { [error] piece in
        Piece.Outcome(tell: { piece.fail(error) })
      }
    }
    return pieces[taken...]
  }

  /// - Throws: when no piece of the batch has happened.
  private func run(
    _ piece: Piece, _ connection: Connection, _ sole: SoleConnection
  ) throws -> Piece.Outcome {
    do {
      return try sole.explaining { try connection.transaction(.immediate, piece.run) }
    } catch {
      guard connection.isInTransaction else { throw error }
      return Piece.Outcome(tell: { piece.fail(error) })
    }
  }

  private func checkNames(_ sole: SoleConnection, _ connection: Connection) throws {
    do {
      try sole.checkNames()
    } catch {
      // Of a file that was replaced the log may be all that is left.
      do {
        try connection.refuseMovedFile()
      } catch {
        connection.keepLog(true)
        throw error
      }
      throw error
    }
  }

  /// Says what has become of each piece.
  ///
  /// - Returns: the accounts that got rows, each with its last sequence number.
  func end() -> [Int64: Int64] {
    var news: [Int64: Int64] = [:]
    for outcome in outcomes {
      outcome.tell()
      if let (account, seq) = outcome.news { news[account] = max(news[account] ?? 0, seq) }
    }
    return news
  }
}
