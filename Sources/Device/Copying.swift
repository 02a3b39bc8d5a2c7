// SPDX-License-Identifier: Apache-2.0

package import KeepsakeValues

extension Device {
  /// Copies the file, through SQLite, so that nobody's locks suffer and the copy is consistent.
  package func backUp(to path: String) throws(KeepsakeError) {
    try core.backUp(to: path)
  }

  /// Makes another file of what this device holds; it is there whole, or not at all.
  ///
  /// - Parameters:
  ///   - path: where nothing is yet.
  ///   - mark: unique; part of the copy's name until it is complete.
  ///   - prepare: changes the copy before anybody can see it.
  /// - Throws: `KeepsakeError`, also when this device is damaged; then nothing was made.
  package func copy(
    to path: String, mark: ReplicaID, _ prepare: (Device) throws(KeepsakeError) -> Void
  ) throws(KeepsakeError) {
    try checkIntegrity()
    let isMade = try Creation.make(path: path, mark: mark) { draft in
      do throws(KeepsakeError) {
        try core.backUp(to: draft)
      } catch {
        throw error.path == draft ? error.at(path) : error
      }
      do throws(KeepsakeError) {
        let copy = try Device(path: draft, access: .existing, clock: clock)
        try prepare(copy)
        try copy.core.emptyLog()
      } catch {
        throw error.at(path)
      }
    }
    guard isMade else {
      throw KeepsakeError(
        .cannotCreate, path: path, "there is a file of this name already",
        cure: "name a new file, or remove this one")
    }
  }
}
