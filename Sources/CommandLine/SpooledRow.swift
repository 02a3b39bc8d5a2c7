// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
package import KeepsakeValues

/// What a key is set to, and two numbers that belong to it.
package struct SpooledRow {
  package let store: String
  package let key: String
  package let content: TaggedCell
  package let rank: Rank

  package init(store: String, key: String, content: TaggedCell, rank: Rank) {
    (self.store, self.key, self.content, self.rank) = (store, key, content, rank)
  }

  /// Rows are sorted by it.
  package struct Rank: Comparable, BitwiseCopyable {
    package var first: Int64
    package var second: Int64

    package init(first: Int64, second: Int64 = 0) { (self.first, self.second) = (first, second) }

    package static func < (a: Rank, b: Rank) -> Bool {
      a.first != b.first ? a.first < b.first : a.second < b.second
    }
  }
}

/// The beginning of a row as bytes; the texts follow, each of the length that is told here.
private struct Head: BitwiseCopyable {
  static let size = MemoryLayout<Head>.size

  var length: Int
  var rank: SpooledRow.Rank
  var store: Int
  var key: Int
  var tag: Int64
  /// The class of the value: none, integer, real, text or bytes.
  var kind: Int
  /// A number, by its bits, or how many bytes there are.
  var value: Int64

  init(_ row: SpooledRow) {
    (store, key, rank) = (row.store.utf8.count, row.key.utf8.count, row.rank)
    tag = row.content.tag
    switch row.content.cell {
    case .null: (kind, value) = (0, 0)
    case .integer(let number): (kind, value) = (1, number)
    case .real(let number): (kind, value) = (2, Int64(bitPattern: number.bitPattern))
    case .text(let text): (kind, value) = (3, Int64(text.utf8.count))
    case .blob(let data): (kind, value) = (4, Int64(data.count))
    }
    length = Self.size + store + key + (kind > 2 ? Int(value) : 0)
  }
}

/// Rows as bytes, one behind the other.
struct SpooledRows {
  private(set) var bytes: [UInt8] = []
  private var ranks: [(rank: SpooledRow.Rank, start: Int)] = []

  mutating func append(_ row: SpooledRow) {
    let head = Head(row)
    ranks.append((row.rank, bytes.count))
    // Room for a large value, and not for twice of it.
    if head.length > 1 << 20 { bytes.reserveCapacity(bytes.count + head.length) }
    withUnsafeBytes(of: head) { bytes.append(contentsOf: $0) }
    append(row.store)
    append(row.key)
    switch row.content.cell {
    case .text(let text): append(text)
    case .blob(let data): bytes.append(contentsOf: data)
    default: break
    }
  }

  private mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { bytes.append(contentsOf: $0) }
  }

  /// Puts them into order; those of one rank stay in theirs.
  mutating func sort() {
    guard ranks.count > 1 else { return }
    let order = ranks.sorted { $0.rank != $1.rank ? $0.rank < $1.rank : $0.start < $1.start }
    ranks = []
    bytes = bytes.withUnsafeBytes { old in
      Array(unsafeUninitializedCapacity: old.count) { new, count in
        let new = UnsafeMutableRawBufferPointer(new)
        for (_, start) in order {
          let length = old.loadUnaligned(fromByteOffset: start, as: Int.self)
          new[count...].copyBytes(from: old[start..<start + length])
          count += length
        }
      }
    }
  }
}

/// Reads rows again, of bytes in memory or of a part of a file.
package struct SpooledRowReader {
  private let file: TemporaryFile?
  /// What is in the file and not in `bytes` yet.
  private var rest: Range<Int>
  private let room: Int
  private var bytes: [UInt8]
  private var place = 0

  init(_ bytes: [UInt8]) {
    (file, rest, room, self.bytes) = (nil, 0..<0, 0, bytes)
  }

  /// - Parameter room: bytes of memory to read through.
  init(_ file: TemporaryFile, _ part: Range<Int>, room: Int) {
    (self.file, rest, self.room, bytes) = (file, part, room, [])
  }

  /// The rank of the next row; nil behind the last.
  mutating func rank() throws -> SpooledRow.Rank? { try head()?.rank }

  package mutating func next() throws -> SpooledRow? {
    guard let head = try head() else { return nil }
    place += Head.size
    let (store, key) = (try text(head.store), try text(head.key))
    let cell: Cell =
      switch head.kind {
      case 1: .integer(head.value)
      case 2: .real(Double(bitPattern: UInt64(bitPattern: head.value)))
      case 3: .text(try text(Int(head.value)))
      case 4: .blob(try data(Int(head.value)))
      default: .null
      }
    return SpooledRow(
      store: store, key: key, content: TaggedCell(tag: head.tag, cell: cell), rank: head.rank)
  }

  private mutating func head() throws -> Head? {
    if bytes.count - place < Head.size { try refill() }
    guard bytes.count - place >= Head.size else { return nil }
    return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: Head.self) }
  }

  private mutating func refill() throws {
    guard let file, !rest.isEmpty else { return }
    let left = bytes.count - place
    let count = min(max(room, Head.size) - left, rest.count)
    let kept = bytes[place...]
    let start = rest.lowerBound
    bytes = try Array(unsafeUninitializedCapacity: left + count) { target, count in
      _ = target.update(fromContentsOf: kept)
      try file.read(UnsafeMutableRawBufferPointer(.init(rebasing: target[left...])), at: start)
      count = target.count
    }
    place = 0
    rest = rest.dropFirst(count)
  }

  private mutating func text(_ count: Int) throws -> String {
    try String(unsafeUninitializedCapacity: count) { target in
      try read(UnsafeMutableRawBufferPointer(.init(rebasing: target[..<count])))
      return count
    }
  }

  private mutating func data(_ count: Int) throws -> Data {
    var data = Data(count: count)
    try data.withUnsafeMutableBytes { try read($0) }
    return data
  }

  private mutating func read(_ target: UnsafeMutableRawBufferPointer) throws {
    let known = min(target.count, bytes.count - place)
    target.copyBytes(from: bytes[place..<place + known])
    place += known
    guard known < target.count, let file else { return }
    let start = rest.lowerBound
    try file.read(UnsafeMutableRawBufferPointer(rebasing: target[known...]), at: start)
    rest = rest.dropFirst(target.count - known)
  }
}
