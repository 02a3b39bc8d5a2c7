// SPDX-License-Identifier: Apache-2.0
//
// Group commit: all pieces of a batch are one transaction. No piece is answered before the commit,
// not even one that was refused: that may be because of what another one did. If the transaction
// fails, each piece runs in one of its own, as one account may be what lets all fail. SQLite writes
// nothing for a transaction that has changed nothing.

import KeepsakeHubServer
import KeepsakeStorage

/// Pieces of work that are committed together.
struct Batch {
  /// A batch takes no more pieces after so many: a small push waits for all of its batch.
  private static let (mostPieces, mostChanges) = (256, 4_000)

  private let pieces: ArraySlice<Piece>
  private let sole: SoleConnection

  init(_ pieces: ArraySlice<Piece>, _ sole: SoleConnection) {
    (self.pieces, self.sole) = (pieces.prefix(Self.mostPieces), sole)
  }

  /// Commits pieces, and calls back for each of them.
  ///
  /// - Parameter marks: gets the new marks, by account.
  /// - Returns: how many of the pieces are done.
  func run(_ marks: inout [Int64: HubMark]) -> Int {
    var tried = 0
    do {
      let outcomes = try commit(&tried)
      for outcome in outcomes {
        outcome.end()
        if let account = outcome.account, let newest = outcome.newest { marks[account] = newest }
      }
    } catch {
      guard tried > 1 else {
        pieces.first?.fail(error)
        return 1
      }
      for place in pieces.indices.prefix(tried) {
        _ = Batch(pieces[place...place], sole).run(&marks)
      }
    }
    return tried
  }

  /// - Throws: when nothing of it has happened.
  private func commit(_ tried: inout Int) throws -> [Piece.Outcome] {
    var outcomes: [Piece.Outcome] = []
    do {
      try sole.access { connection in
        let start = connection.totalChanges
        try connection.transaction(.immediate) { connection in
          for piece in pieces {
            tried += 1
            outcomes.append(try piece.run(connection))
            guard connection.totalChanges - start < Self.mostChanges else { break }
          }
          if connection.totalChanges != start { try checkNames(connection) }
        }
      }
      return outcomes
    } catch {
      try sole.saveLostLog()
      throw error
    }
  }

  private func checkNames(_ connection: Connection) throws {
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
}
