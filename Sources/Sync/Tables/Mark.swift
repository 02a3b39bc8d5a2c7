// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
package import KeepsakeValues

/// A point in a file's history: its newest sequence number of a synced store, its clock, and 62
/// random bits. Number and bits identify a mark in a file's history.
package struct Mark: Hashable, Sendable {
  package let sequenceNumber: Int64
  package let timestamp: HybridTimestamp
  package let bits: Int64

  package init(sequenceNumber: Int64, timestamp: HybridTimestamp, bits: Int64) {
    (self.sequenceNumber, self.timestamp) = (sequenceNumber, timestamp)
    self.bits = bits
  }

  /// The beginning of each history.
  package static let start = Mark(sequenceNumber: 0, timestamp: .zero, bits: 0)
}

extension Mark {
  /// Its columns: number, timestamp, bits.
  init(_ row: Row, from column: Int32 = 0) {
    self.init(
      sequenceNumber: row.integer(column),
      timestamp: HybridTimestamp(rawValue: row.integer(column + 1)), bits: row.integer(column + 2))
  }

  /// The form in which it is sent to a hub: `NUMBER-BITS`. The hub's own marks have the same form.
  package var text: String { "\(sequenceNumber)-\(ReplicaID(rawValue: bits))" }

  /// - Returns: nil for text that no device and no hub has written.
  package init?(text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let number = Int64(parts[0]), (0..<1 << 62).contains(number),
      let bits = JSON.string(String(parts[1])).hexadecimal, bits > 0 || number == 0
    else { return nil }
    self.init(sequenceNumber: number, timestamp: .zero, bits: bits)
  }

  var cells: [Cell] {
    [.integer(sequenceNumber), .integer(timestamp.rawValue), .integer(bits)]
  }
}
