// SPDX-License-Identifier: Apache-2.0
//
// An in-place change, such as `+=` or `append`, is a read and a write with code of the caller
// between them, which no transaction can enclose. So the write is rejected if the stored value is
// no longer the one that was read. In-place changes of one file in this process run one after
// another, so that a rejection is rare.

import KeepsakeDevice
import KeepsakeValues

/// A value to store under a key, in place of what was read there.
struct Replacement {
  let key: String
  let seen: StoredValue?
  let new: StoredValue?
}

/// A change of a value, from its reading to its writing.
struct InPlaceChange<Value> {
  /// The stored value, and the value decoded from it.
  typealias Reading = (stored: StoredValue?, value: Value)

  private let backing: Backing
  /// The key to report failures under that concern no single key.
  private let key: String
  private let core: Core
  private let hasTurn: Bool
  private let read: Result<Reading, any Error>

  init(_ backing: Backing, _ key: String, _ read: () throws -> Reading) {
    (self.backing, self.key, core) = (backing, key, backing.device.core)
    hasTurn = core.shared.inPlaceChanges.begin(
      unless: core.versions.isInOurTransaction, waiting: Device.setterTimeout)
    self.read = Result(catching: read)
  }

  /// The value that was read; nil if it cannot be read.
  var value: Value? {
    if case .success(let read) = read { read.value } else { nil }
  }

  /// Stores the new value, or reports why it cannot.
  ///
  /// - Parameter replacements: returns the values to store in place of the ones that were read.
  func end(_ replacements: (Reading) throws -> [Replacement]) {
    var failure: (key: String, cause: any Error)?
    func finish() {
      var key = key
      do {
        switch read {
        case .success(let read): try replace(replacements(read)) { key = $0 }
        case .failure(let error): throw backing.failure(.write, error, key: key)
        }
      } catch {
        failure = (key, error)
      }
    }
    if hasTurn {
      core.shared.inPlaceChanges.end(finish)
      core.shared.tellObservers()
    } else {
      finish()
    }
    // After the turn: an observer of the failure may write.
    if let failure { backing.reportWrite(failure.key, failure.cause) }
  }

  private func replace(_ replacements: [Replacement], writing: (String) -> Void) throws {
    guard !replacements.isEmpty else { return }
    try backing.transaction(backing.durability, waiting: Device.setterTimeout) {
      for replacement in replacements {
        writing(replacement.key)
        guard backing.device.core === core, try backing.value(replacement.key) == replacement.seen
        else {
          throw KeepsakeError(
            .locked, path: backing.device.path,
            "the value was changed while it was being changed here",
            cure: "use update, which no other write interrupts")
        }
        try backing.set(replacement.new, replacement.key)
      }
      writing(key)
    }
  }
}
