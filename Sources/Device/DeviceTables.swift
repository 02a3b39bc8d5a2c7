// SPDX-License-Identifier: Apache-2.0
//
// The access to a device's tables that the modules which merge devices have; no other part of a
// device's core is visible outside of this module.

package import KeepsakeStorage
package import KeepsakeValues

/// The tables of a device, in transactions.
package struct DeviceTables {
  let core: Core

  /// Uses the connection outside of a transaction, if there is none to join: each statement sees
  /// its own snapshot.
  package func access<Value>(_ body: (Connection) throws -> Value) throws(KeepsakeError) -> Value {
    try core.storage.access(body)
  }

  /// As `access`, for what only reads the device's own tables: it waits for no other thread.
  func look<Value>(_ body: (Connection) throws -> Value) throws(KeepsakeError) -> Value {
    try core.storage.look(body)
  }

  /// As `look`, from one snapshot, also of what this thread looks at meanwhile by other calls.
  package func survey<Value>(_ body: (Connection) throws -> Value) throws(KeepsakeError) -> Value {
    try look { try $0.transaction(.deferred) { try body($0) } }
  }

  /// Reads from one snapshot.
  package func read<Value>(_ body: (Connection) throws -> Value) throws(KeepsakeError) -> Value {
    try access { try $0.transaction(.deferred) { try body($0) } }
  }

  /// Writes everything that `body` does, or nothing; then notifies the observers. Within another
  /// write it joins that one, and is undone with it.
  ///
  /// - Parameter body: also returns what changed; runs while the file is locked for writing, unless
  ///   a newer version has taken the file over.
  package func write<Value>(
    _ body: (Connection) throws -> (Value, [SettingChange])
  ) throws(KeepsakeError) -> Value {
    try core.write { connection, session in
      try Schema.refuseNewer(connection, core.storage.location.path)
      let (value, changes) = try body(connection)
      session.note(changes)
      return value
    }
  }

  /// Attaches another device's file to this connection, read-only, as `sender`, while `body` runs.
  package func attaching<Value>(
    _ sender: Device, _ body: () throws(KeepsakeError) -> Value
  ) throws(KeepsakeError) -> Value {
    let (location, mode) = (sender.core.storage.location, sender.core.storage.mode)
    let address = location.uri(mode == .immutable ? .immutable : .readOnly)
    do {
      try sender.core.storage.names?.check()
      try access { try $0.run("ATTACH DATABASE ?1 AS sender", [.text(address)]) }
    } catch {
      throw error.at(location.path)
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
        try sender.checkIntegrity()
        if error.isAboutRowSize { try sender.checkSizes() }
      }
      throw error
    }
  }

  /// Throws if the file is read as immutable, and may have changed.
  package func checkUnchanged() throws(KeepsakeError) {
    try core.storage.immutableFile?.check()
  }

  /// The facts that the last merge has read of the file; of a type of Sync.
  package var mergeFacts: (any Sendable)? {
    get { core.mergeFacts.withLock { $0 } }
    nonmutating set { core.mergeFacts.withLock { $0 = newValue } }
  }

  /// Lets the log and the page cache (32 MiB) grow while `body` changes the same pages in one
  /// transaction after the other: they are then written to the file only once.
  ///
  /// - Parameter changesMany: false if `body` changes too little for that.
  package func withRoom<Value>(
    _ changesMany: Bool, _ body: () throws(KeepsakeError) -> Value
  ) throws(KeepsakeError) -> Value {
    guard changesMany else { return try body() }
    try access { try $0.run("PRAGMA main.cache_size = -32768") }
    core.storage.checkpoints?.limit(to: 32768)
    defer {
      core.storage.checkpoints?.limit(to: Checkpoints.usualLimit)
      // Fails only if the connection is broken, and then its next use says so.
      Result { () throws(KeepsakeError) in
        try access { try $0.run("PRAGMA main.cache_size = -2000") }
      }.discardFailure()
    }
    return try body()
  }
}

extension Device {
  package var tables: DeviceTables { DeviceTables(core: core) }

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

  /// As `Lease.hold`, of several devices, waiting for other merges of this process as long as it
  /// takes.
  package static func leased<Value>(
    _ devices: [Device], _ body: () throws(KeepsakeError) -> Value
  ) throws(KeepsakeError) -> Value {
    try Lease.hold(devices.map(\.core.storage), body)
  }
}
