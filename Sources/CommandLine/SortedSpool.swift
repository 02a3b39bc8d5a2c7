// SPDX-License-Identifier: Apache-2.0
//
// Sorts more rows than fit into memory: sorted runs of them go to a temporary file, and are merged
// when they are read.

import KeepsakeDevice

/// Rows that are read in the order of their ranks; those of one rank in the order they came.
struct SortedSpool {
  private let memory: Int
  private(set) var count = 0
  private var rows = SpooledRows()
  private var file: TemporaryFile?
  private var runs: [Range<Int>] = []

  /// - Parameter memory: how many bytes of rows to sort at once.
  init(memory: Int = 8 << 20) { self.memory = memory }

  /// - Throws: `KeepsakeError` when the system's temporary folder is full, or cannot be written.
  mutating func append(_ row: SpooledRow) throws {
    rows.append(row)
    count += 1
    if rows.bytes.count > memory { try spill() }
  }

  private mutating func spill() throws {
    let file = try self.file ?? TemporaryFile()
    self.file = file
    rows.sort()
    let start = file.size
    try rows.bytes.withUnsafeBytes(file.append)
    runs.append(start..<file.size)
    rows = SpooledRows()
  }

  /// Calls `body` for each row, in order.
  mutating func forEach(_ body: (SpooledRow) throws -> Void) throws {
    guard file != nil else {
      rows.sort()
      var reader = SpooledRowReader(rows.bytes)
      rows = SpooledRows()
      while let row = try reader.next() { try body(row) }
      return
    }
    try spill()
    try merge(body)
  }

  private func merge(_ body: (SpooledRow) throws -> Void) throws {
    guard let file else { return }
    let room = min(max(memory / runs.count, 1 << 12), 1 << 16)
    var readers = runs.map { SpooledRowReader(file, $0, room: room) }
    // The runs that have more, the one with the first row last.
    var heads: [(rank: SpooledRow.Rank, run: Int)] = []
    func insert(_ run: Int) throws {
      guard let rank = try readers[run].rank() else { return }
      var (low, high) = (0, heads.count)
      while low < high {
        let middle = (low + high) / 2
        // Of one rank an earlier run has the earlier rows.
        let other = heads[middle]
        let isEarlier = rank != other.rank ? rank < other.rank : run < other.run
        if isEarlier { low = middle + 1 } else { high = middle }
      }
      heads.insert((rank, run), at: low)
    }
    for run in readers.indices { try insert(run) }
    while let (_, run) = heads.popLast() {
      guard let row = try readers[run].next() else { continue }
      try body(row)
      try insert(run)
    }
  }
}
