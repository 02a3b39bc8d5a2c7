// SPDX-License-Identifier: Apache-2.0
//
// `+=`, `append` and all else that changes a value where it is: a read, then a write, and between
// them code that no transaction can be around. So the write is done only if what was read is still
// there; and those who change values of one file in this process take turns, so that it nearly
// always is.

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
  /// What was stored, and the value that it is.
  typealias Reading = (stored: StoredValue?, value: Value)

  private let backing: Backing
  /// Under which a failure is reported that is none of a single key.
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

  /// Nil where it cannot be read.
  var value: Value? {
    if case .success(let read) = read { read.value } else { nil }
  }

  /// Stores the new value, or reports why it cannot.
  ///
  /// - Parameter replacements: what is to be stored instead of what was read.
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
    // Without the turn: who hears of it may write.
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
