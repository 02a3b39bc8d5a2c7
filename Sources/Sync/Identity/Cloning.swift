// SPDX-License-Identifier: Apache-2.0

public import KeepsakeDevice
package import KeepsakeValues

extension Device {
  /// Makes a second device of what this one holds: the honest way to do what `cp` does.
  ///
  /// The clone has a replica ID of its own from the start. It has read everything that this device
  /// had, and begins with an empty conflict log: each conflict is resolved once.
  ///
  /// - Parameter path: where nothing is yet.
  /// - Throws: `KeepsakeError`; then nothing was made.
  public func clone(to path: String) throws(KeepsakeError) {
    try clone(to: path, identity: .random())
  }

  package func clone(to path: String, identity: ReplicaID) throws(KeepsakeError) {
    try copy(to: path) { copy throws(KeepsakeError) in
      try copy.takeNewID(identity, reason: .clone)
      try copy.tables.write { (try $0.conflictLog.clear(), []) }
    }
  }
}
