// SPDX-License-Identifier: Apache-2.0

import KeepsakeStorage
import KeepsakeValues
import Synchronization

/// Which files this process has open, so that two opens of one file share a core.
enum CoreRegistry {
  private struct Slot: Hashable {
    let file: FileID
    let isReadOnly: Bool
  }

  private struct WeakCore {
    weak var core: Core?
  }

  private static let open = Mutex<[Slot: WeakCore]>([:])
  /// Held throughout an opening, so that two threads cannot open one file twice.
  private static let opening = FileLocks()

  /// The core of a file, made or opened if this process does not have it open for the same use; an
  /// open one keeps its busy timeout.
  static func core(
    _ path: String, _ access: Device.Access, busyTimeout: Duration, identity: ReplicaID,
    folder: TemporaryFolder? = nil, hooks: OpeningHooks = OpeningHooks()
  ) throws(KeepsakeError) -> Core {
    while true {
      if let core = try attempt(path, access, busyTimeout, identity, folder, hooks) { return core }
    }
  }

  /// - Returns: nil when another file got the name meanwhile: it would pass for the former one.
  private static func attempt(
    _ path: String, _ access: Device.Access, _ busyTimeout: Duration, _ identity: ReplicaID,
    _ folder: TemporaryFolder?, _ hooks: OpeningHooks
  ) throws(KeepsakeError) -> Core? {
    forgetClosed()
    // These end without the lock: the last reference to a core closes its file.
    var cores: [Core] = []
    defer { withExtendedLifetime(cores) {} }
    var file = try FileID(of: path)
    if file == nil, access == .create {
      try Draft.create(path: path, identity: identity)
      file = try FileID(of: path)
    }
    guard let file else { throw KeepsakeError.missing(path) }
    let slot = Slot(file: file, isReadOnly: access == .readOnly)
    return try opening.withLock(of: file) { () throws(KeepsakeError) in
      try OpenFiles.checkNames(file)
      let same = open.withLock { $0.filter { $0.key.file == file }.compactMapValues(\.core) }
      cores += same.values
      if let core = same[slot] { return core }
      hooks.beforeOpening()
      // Opened for another use: another connection, all else the same.
      let shared = same.values.first?.shared
      let opened = try Opening.open(
        .file(path), readOnly: access == .readOnly, busyTimeout: busyTimeout, hooks: hooks)
      guard try FileID(of: path) == file else { return nil }
      if opened.mode == .readWrite { Draft.removeAbandoned(of: opened.location.realPath) }
      let core = try Core(
        opened, file: file, shared: shared ?? SharedState(), folder: folder)
      cores.append(core)
      // Checks the names of all connections; closing this one saves what its log has.
      try OpenFiles.checkNames(file)
      open.withLock { $0[slot] = WeakCore(core: core) }
      return core
    }
  }

  private static func forgetClosed() {
    let cores = open.withLock { open in
      let cores = open.compactMapValues(\.core)
      open = open.filter { cores[$0.key] != nil }
      return cores
    }
    withExtendedLifetime(cores) {}
  }
}
