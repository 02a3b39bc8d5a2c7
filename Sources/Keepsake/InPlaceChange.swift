// SPDX-License-Identifier: Apache-2.0
//
// `+=`, `append` and all else that changes a value where it is: a read, then a write, and between
// them code that no transaction can be around. So the write is done only if what was read is still
// there; and those who change values of one file in this process take turns, so that it nearly
// always is.

import KeepsakeDevice
import KeepsakeValues

/// A change of the value of a key, from its reading to its writing.
struct InPlaceChange<Value> {
  private let backing: Backing
  private let key: String
  private let core: Core
  /// Nil for a change that takes no turn.
  private let turn: ChangeTurn?
  private let read: Result<(stored: StoredValue?, value: Value), any Error>

  init(_ backing: Backing, _ key: String, _ decode: (StoredValue?) throws -> Value) {
    (self.backing, self.key, core) = (backing, key, backing.device.core)
    turn = core.shared.changes.begin(
      unless: core.versions.isInOurTransaction, waiting: Device.setterTimeout)
    read = Result {
      let stored = try backing.value(key)
      return (stored, try decode(stored))
    }
  }

  /// Nil where it cannot be read.
  var value: Value? {
    if case .success(let read) = read { read.value } else { nil }
  }

  /// Stores the new value, or reports why it cannot.
  func end(_ encode: () throws -> StoredValue?) {
    defer { turn?.end() }
    do {
      switch read {
      case .success(let read): try replace(read.stored, by: encode)
      case .failure(let error): throw backing.failure(.write, error, key: key)
      }
    } catch {
      backing.reportWrite(key, error)
    }
  }

  private func replace(_ seen: StoredValue?, by encode: () throws -> StoredValue?) throws {
    let new = try encode()
    try backing.transaction(backing.durability, waiting: Device.setterTimeout) {
      guard backing.device.core === core, try backing.value(key) == seen else {
        throw KeepsakeError(
          .locked, path: backing.device.path,
          "the value was changed while it was being changed here",
          cure: "use update, which no other write interrupts")
      }
      try backing.set(new, key)
    }
  }
}
