// SPDX-License-Identifier: Apache-2.0

public import KeepsakeDevice
package import KeepsakeValues

extension Device {
  /// Makes a second device of what this one holds: the honest way to do what `cp` does.
  ///
  /// The copy has an identity of its own from the start, so neither has to be renamed when they
  /// meet. It has seen everything that this device had, has no peers, and starts an empty conflict
  /// log.
  ///
  /// - Parameter path: where nothing is yet.
  /// - Throws: `KeepsakeError`; then nothing was made.
  public func clone(to path: String) throws(KeepsakeError) {
    try clone(to: path, identity: .random())
  }

  package func clone(to path: String, identity: ReplicaID) throws(KeepsakeError) {
    try copy(to: path) { copy throws(KeepsakeError) in
      try copy.becomeDevice(identity)
    }
  }
}
