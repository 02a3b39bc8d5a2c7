// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

extension Device {
  /// Copies the file through SQLite: the copy is consistent, and all locks stay.
  package func backUp(to path: String) throws(KeepsakeError) {
    try core.storage.backUp(to: path)
  }

  /// Makes another file of what this device holds; it is there whole, or not at all.
  ///
  /// - Parameters:
  ///   - path: where nothing is yet.
  ///   - prepare: changes the copy before it has its name.
  /// - Throws: `KeepsakeError`, also when this device is damaged; then nothing was made.
  package func copy(
    to path: String, _ prepare: (Device) throws(KeepsakeError) -> Void
  ) throws(KeepsakeError) {
    let draft = try Draft(of: path)
    try copy(into: draft, prepare)
    guard try draft.publish() else {
      throw KeepsakeError(
        .cannotCreate, path: path, "there is a file of this name already",
        cure: "name a new file, or remove this one")
    }
  }

  func copy(
    into draft: Draft, _ prepare: (Device) throws(KeepsakeError) -> Void = { _ in }
  ) throws(KeepsakeError) {
    try checkIntegrity()
    try draft.makeEmpty()
    do throws(KeepsakeError) {
      try core.storage.backUp(to: draft.path)
    } catch {
      if error.path == draft.path { throw error.at(draft.target) }
      // SQLite does not say in which of the two files a read failed.
      throw error.code == .inputOutput ? error.at("\(self.path) or \(draft.target)") : error
    }
    do throws(KeepsakeError) {
      let copy = try Device(path: draft.path, access: .existing, clock: clock)
      try prepare(copy)
      try copy.emptyLog()
    } catch {
      // What is wrong with a copy is wrong with what was copied.
      throw error.at(error.isRefusal ? self.path : draft.target)
    }
  }
}
