// SPDX-License-Identifier: Apache-2.0

package import KeepsakeValues

/// One set (or, without a value, delete) of a key on this device.
package struct LocalWrite: Sendable {
  private enum Value {
    case decoded(StoredValue?)
    case stored(TaggedCell)
  }

  package var address: Address
  private var value: Value
  /// Stands in for the device's clock, in milliseconds since 1970.
  package var wallClock: Int64?
  /// Beyond these the write is refused.
  package var limits: StoreLimits?

  package init(
    store: String, key: String, value: StoredValue?, wallClock: Int64? = nil,
    limits: StoreLimits? = nil
  ) {
    self.limits = limits
    address = Address(store: store, key: key)
    self.value = .decoded(value)
    self.wallClock = wallClock
  }

  /// - Parameter content: as it is to be stored; the caller has checked it.
  package init(store: String, key: String, content: TaggedCell, wallClock: Int64? = nil) {
    address = Address(store: store, key: key)
    value = .stored(content)
    self.wallClock = wallClock
  }

  /// The same with its columns, which `content` has given.
  func storing(_ content: TaggedCell) -> LocalWrite {
    var write = self
    write.value = .stored(content)
    return write
  }

  /// The columns to write.
  ///
  /// - Throws: `ValueError` for a value that cannot be stored.
  func content() throws(ValueError) -> TaggedCell {
    switch value {
    case .decoded(let value): try TaggedCell(value)
    case .stored(let content): content
    }
  }
}
