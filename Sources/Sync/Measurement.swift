// SPDX-License-Identifier: Apache-2.0

import Foundation
package import KeepsakeDevice
package import KeepsakeValues

/// What the check of a whole file has found of its entries' sizes. A pull that reads the file from
/// the beginning need not measure them again: what was written since has a later local sequence
/// number, and so the parts can only have lost entries.
package struct Measurement {
  /// The last local sequence number of the file before it was measured.
  private let end: Int64
  package let chunks: [ChunkCutter.Part]

  /// Measures all entries of a file.
  ///
  /// - Parameters:
  ///   - stores: which are to be cut into chunks.
  ///   - size: entries of one chunk at most.
  /// - Throws: for an entry that is too large for any device.
  package init(_ connection: Connection, of stores: [ByteText], size: Int) throws {
    end = try ReplicaState(connection).lseq
    let names = Set(stores.map { Data($0.string.utf8) })
    var parts = ChunkCutter(
      .keys(after: PullPlan.Place(), through: nil), size: size, path: connection.path)
    var (store, isWanted) = (Data(), names.contains(Data()))
    try connection.checkSizes { row, bytes in
      if !row.has(store, in: 1) {
        store = row.bytes(1)
        isWanted = names.contains(store)
      }
      if isWanted { try parts.add(row, bytes) }
    }
    chunks = parts.all()
  }

  /// Whether it knows all that a pull reads up to `last`.
  ///
  /// - Parameter echo: local sequence numbers that are not read.
  package func covers(_ last: Int64, except echo: EchoRange) -> Bool {
    last <= end || (echo.lower <= end && last <= echo.upper)
  }
}
