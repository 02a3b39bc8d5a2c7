// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import KeepsakeValues

/// A row of another file, with its bytes as they are there: text may be no UTF-8.
package struct IncomingRow: Sendable {
  package let sequenceNumber: Int64
  package let store: Data
  package let key: Data
  package let type: Int64
  /// Text as a blob.
  package let value: Cell
  /// Whether the value is text.
  package let isText: Bool
  package let timestamp: Int64
  package let replicaID: Int64

  /// The columns, in the order of `entry`, and after them the value's type.
  package static let columns = """
    e.store, e.key, e.type, e.value, e.timestamp, e.replica_id, e.sequence_number, typeof(e.value)
    """

  package init(_ row: Row) {
    (store, key, type) = (row.bytes(0), row.bytes(1), row.integer(2))
    isText = row.text(7) == "text"
    value = isText ? .blob(row.bytes(3)) : row.cell(3)
    (timestamp, replicaID, sequenceNumber) = (row.integer(4), row.integer(5), row.integer(6))
  }

  package var byteCount: Int { store.count + key.count + value.byteCount }
}
