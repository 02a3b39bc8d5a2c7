// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

extension Core {
  /// Attaches another device's file to this connection, read-only, as `sender`, while `body` runs.
  package func withSender<Value>(
    _ sender: Core, _ body: () throws(KeepsakeError) -> Value
  ) throws(KeepsakeError) -> Value {
    let address = sender.location.uri(sender.mode == .immutable ? .immutable : .readOnly)
    do {
      try sender.storage.names?.check()
      try access { try $0.run("ATTACH DATABASE ?1 AS sender", [.text(address)]) }
    } catch {
      throw error.at(sender.location.path)
    }
    defer {
      // Fails only if the connection is broken, and then its next use says so.
      Result { () throws(KeepsakeError) in
        try access { try $0.run("DETACH DATABASE sender") }
      }.discardFailure()
    }
    do throws(KeepsakeError) {
      return try body()
    } catch {
      // SQLite does not say which of the two files is damaged.
      if error.code == .corrupt {
        try sender.storage.checkIntegrity()
        if error.isAboutRowSize { try sender.access { try $0.checkSizes(where: "true") } }
      }
      throw error
    }
  }
}

extension Device {
  /// As `Lease.hold`, waiting for other merges of this process a minute, or for the busy timeout if
  /// that is longer; within a transaction not at all.
  package func leased<Value>(
    joins: Bool = false, _ body: () throws(KeepsakeError) -> Value
  ) throws(KeepsakeError) -> Value {
    let limit = core.storage.leaseTimeout
    return try Lease.hold(
      [core.storage], waiting: limit == .zero ? limit : max(limit, .seconds(60)), joins: joins,
      body)
  }
}
