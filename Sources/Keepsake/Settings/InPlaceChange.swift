// SPDX-License-Identifier: Apache-2.0
//
// An in-place change, such as `+=` or `append`, is a read and a write with code of the caller
// between them, which no transaction can enclose. So the write is rejected if the stored value
// differs from the one that was read. In-place changes of one file in this process run one after
// another, so that a rejection is rare.

import KeepsakeDevice
import KeepsakeValues

/// A value to store under a key, if the stored value is still `seen`.
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
  /// The key to report a failure under that concerns no single key.
  private let key: String
  private let hasLock: Bool
  private let read: Result<Reading, SettingFailure>

  init(of key: String, in backing: Backing, _ read: () throws -> Reading) {
    (self.backing, self.key) = (backing, key)
    hasLock = backing.device.shared.inPlaceChanges.begin(
      unless: backing.device.versions.isInOurTransaction, waiting: Device.setterTimeout)
    self.read = Result(catching: read).mapError {
      SettingFailure(.write, $0, store: backing.store, key: key)
    }
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
        try replace(replacements(read.get())) { key = $0 }
      } catch {
        failure = (key, error)
      }
    }
    if hasLock {
      backing.device.shared.inPlaceChanges.end(finish)
      backing.device.shared.tellObservers()
    } else {
      finish()
    }
    // Without the lock: an observer of the failure may write.
    if let failure { backing.reportWriteFailure(failure.cause, of: failure.key) }
  }

  private func replace(_ replacements: [Replacement], writing: (String) -> Void) throws {
    guard !replacements.isEmpty else { return }
    try backing.transaction(waiting: Device.setterTimeout) {
      for replacement in replacements {
        writing(replacement.key)
        guard try backing.value(replacement.key) == replacement.seen else {
          throw KeepsakeError(
            .locked, path: backing.device.path,
            "another write changed the value during this change",
            cure: "use update, which is one step")
        }
        try backing.set(replacement.new, for: replacement.key)
      }
      writing(key)
    }
  }
}
