// SPDX-License-Identifier: Apache-2.0

package import KeepsakeDevice
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
      try access { connection in
        // A pull jumps through the file. Kibibytes, negated.
        try connection.run("PRAGMA sender.cache_size = -8192")
      }
      return try body()
    } catch {
      throw blame(error, sender)
    }
  }

  /// The same error about the file that it is in: SQLite does not say which one of two it read.
  private func blame(_ error: KeepsakeError, _ sender: Core) -> KeepsakeError {
    if error.path == sender.location.realPath { return error.at(sender.location.path) }
    guard error.code == .corrupt, error.path == location.path else { return error }
    do throws(KeepsakeError) {
      try sender.storage.checkIntegrity()
      try sender.access { try $0.checkSizes() }
      return error
    } catch {
      // This file is whole, as far as is known.
      Result { () throws(KeepsakeError) in try access { $0.keepLog(false) } }.discardFailure()
      return error
    }
  }
}
