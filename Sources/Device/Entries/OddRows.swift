// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

/// A defect of a row of a file.
package enum RowProblem: Sendable {
  /// A text of it is not UTF-8.
  case notUTF8
  /// No device writes such a row.
  case unsound
  /// Its value cannot be read as one of its type.
  case notOfItsType(Int64)
}

extension Device {
  /// Calls `body` for each row that other programs must have written. O(entries).
  ///
  /// - Parameter body: called with store and key of the row.
  package func forEachOddRow(
    _ body: (_ name: String, _ problem: RowProblem) -> Void
  ) throws(KeepsakeError) {
    try tables.read { connection in
      try connection.run(
        "SELECT store, key, type, value, \(Connection.isSound) FROM entry AS e"
      ) { row in
        if let problem = row.problem { body("\(row.text(0))/\(row.text(1))", problem) }
        return true
      }
    }
  }
}

extension Row {
  /// Columns: store, key, type, value, whether it is sound.
  fileprivate var problem: RowProblem? {
    guard isUTF8(0), isUTF8(1), isUTF8(3) else { return .notUTF8 }
    guard integer(4) == 1 else { return .unsound }
    let content = self.content(2)
    let isOpaque = content.value?.kind == .opaque && Tag(rawValue: content.tag) != nil
    return isOpaque ? .notOfItsType(content.tag) : nil
  }
}
