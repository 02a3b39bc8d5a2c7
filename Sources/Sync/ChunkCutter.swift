// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeValues

extension PullPlan {
  /// The address of a row, as the bytes that its file has: a key may be no UTF-8, and what is
  /// repaired to be some sorts elsewhere.
  struct Place {
    var store = Data()
    var key = Data()

    fileprivate func precedes(_ other: Place) -> Bool {
      store == other.store
        ? key.lexicographicallyPrecedes(other.key)
        : store.lexicographicallyPrecedes(other.store)
    }
  }

  /// What one transaction reads.
  enum Chunk {
    /// Of stores that were never read, from after one place up to another or to the end.
    case keys(after: Place, through: Place?)
    /// Of the other stores, from after one local sequence number up to another.
    case arrivals(after: Int64, through: Int64)
    /// Collected deletions of what the receiver still has, by address.
    case graves(after: Place, through: Place?)

    /// Takes away what comes before and at a row of `lseq`, `store`, `key`, and returns that.
    ///
    /// - Returns: nil when the row does not come after the chunk's beginning.
    fileprivate mutating func cut(at row: Row) -> Chunk? {
      switch self {
      case .keys(let after, let through):
        let place = Place(store: row.bytes(1), key: row.bytes(2))
        guard after.precedes(place) else { return nil }
        self = .keys(after: place, through: through)
        return .keys(after: after, through: place)
      case .graves(let after, let through):
        let place = Place(store: row.bytes(1), key: row.bytes(2))
        guard after.precedes(place) else { return nil }
        self = .graves(after: place, through: through)
        return .graves(after: after, through: place)
      case .arrivals(let after, let through):
        let place = row.integer(0)
        guard after < place else { return nil }
        self = .arrivals(after: place, through: through)
        return .arrivals(after: after, through: place)
      }
    }
  }
}

/// Cuts what is to be read so that no part has too many entries or bytes.
package struct ChunkCutter {
  typealias Chunk = PullPlan.Chunk

  package struct Part {
    let chunk: Chunk
    /// Its newest timestamp.
    let newest: HybridTimestamp
  }

  /// Bytes of keys and values after which no part takes another entry: 16 MiB.
  static let partBytes = 1 << 24

  private let size: Int
  private let path: String
  private var parts: [Part] = []
  /// What comes after `full`, or after `parts`.
  private var rest: Chunk
  private var (count, bytes, newest) = (0, 0, Int64(0))
  /// What is full ends before the next row, if there is one.
  private var full: Chunk?

  /// - Parameters:
  ///   - whole: what the rows are of.
  ///   - size: entries of one part at most.
  ///   - path: the file that they are in.
  init(_ whole: Chunk, size: Int, path: String) {
    (rest, self.size, self.path) = (whole, size, path)
  }

  /// Adds a row of `Connection.measure`, in the order in which they are read.
  ///
  /// Every cut goes forward, or planning would not end: in a damaged tree rows are out of order.
  mutating func add(_ row: Row, _ rowBytes: Int) throws(KeepsakeError) {
    if let full {
      end(full)
      (self.full, count, bytes, newest) = (nil, 0, 0, 0)
    }
    (count, bytes, newest) = (count + 1, bytes + rowBytes, max(newest, row.integer(4)))
    guard count >= size || bytes >= Self.partBytes else { return }
    guard let chunk = rest.cut(at: row) else {
      throw KeepsakeError(
        .corrupt, path: path, "its entries are out of order", cure: "restore a backup of it")
    }
    full = chunk
  }

  private mutating func end(_ chunk: Chunk) {
    parts.append(Part(chunk: chunk, newest: HybridTimestamp(rawValue: newest)))
  }

  /// After the last row; none where there was no row.
  consuming func all() -> [Part] {
    if count > 0 { end(full ?? rest) }
    return parts
  }
}
