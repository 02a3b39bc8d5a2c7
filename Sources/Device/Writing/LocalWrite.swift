// SPDX-License-Identifier: Apache-2.0

package import KeepsakeValues

/// One set (or, without a value, delete) of a key on this device.
package struct LocalWrite: Sendable {
  package var address: Address
  /// The columns to write, or why the value cannot be stored.
  let content: Result<TaggedCell, ValueError>
  /// Stands in for the device's clock, in milliseconds since 1970.
  package var wallClock: Int64?

  package init(store: String, key: String, value: StoredValue?, wallClock: Int64? = nil) {
    address = Address(store: store, key: key)
    content = Result { () throws(ValueError) in try TaggedCell(value) }
    self.wallClock = wallClock
  }

  /// - Parameter content: as it is to be stored; the caller has checked it.
  package init(store: String, key: String, content: TaggedCell, wallClock: Int64? = nil) {
    address = Address(store: store, key: key)
    self.content = .success(content)
    self.wallClock = wallClock
  }
}
