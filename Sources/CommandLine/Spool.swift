// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice

/// Rows that wait for their use: in memory as long as they are few, then in a temporary file.
package struct Spool {
  /// In bytes.
  private static let memory = 4 << 20

  package private(set) var count = 0
  private var rows = SpooledRows()
  private var file: TemporaryFile?

  package init() {}

  /// - Throws: `KeepsakeError` when the system's temporary folder is full, or cannot be written.
  package mutating func append(_ row: SpooledRow) throws {
    rows.append(row)
    count += 1
    if rows.bytes.count > Self.memory { try spill() }
  }

  private mutating func spill() throws {
    let file = try self.file ?? TemporaryFile()
    self.file = file
    try rows.bytes.withUnsafeBytes(file.append)
    rows = SpooledRows()
  }

  /// Everything, from the first row on.
  package mutating func reader() throws -> SpooledRowReader {
    guard file != nil else { return SpooledRowReader(rows.bytes) }
    try spill()
    return file.map { SpooledRowReader($0, 0..<$0.size, room: 1 << 16) } ?? SpooledRowReader([])
  }
}
