// SPDX-License-Identifier: Apache-2.0

public import KeepsakeValues
package import Synchronization

/// One device: a SQLite file that holds the entries of all its stores.
///
/// Several handles and processes may have the same file open. Handles in one process are notified
/// of each other's changes, and share a connection when they were opened alike.
public final class Device: Sendable {
  let core: Core
  package let clock: WallClock
  let backups: BackupPolicy

  /// How long to wait for another process's lock, by default.
  public static let defaultBusyTimeout: Duration = BusyHandler.usualLimit

  /// How long a property's setter waits for it at most, since it may be called by a user interface.
  public static let setterTimeout: Duration = .seconds(1)

  /// Opens the device's file.
  ///
  /// - Parameters:
  ///   - url: a file URL; the folder has to exist.
  ///   - access: whether to write, and whether a missing file is made.
  ///   - busyTimeout: how long to wait for another process's lock. Handles that share a connection
  ///     wait as long as the first of them.
  ///   - backups: whether the device is copied each day, beside its file.
  ///   - clock: where timestamps get the time from.
  /// - Throws: `KeepsakeError`; the file is as it was.
  public convenience init(
    at url: URL, access: Access = .create, busyTimeout: Duration = Device.defaultBusyTimeout,
    backups: BackupPolicy = .daily, clock: WallClock = .system
  ) throws(KeepsakeError) {
    guard url.isFileURL else {
      throw KeepsakeError(
        .notKeepsake, path: url.absoluteString, "this is not a file URL",
        cure: "copy the file to a disk and name its path")
    }
    try self.init(
      path: url.path, access: access, busyTimeout: busyTimeout, backups: backups, clock: clock)
  }

  /// Opens the device's file by its path, absolute or relative to the current folder; by default
  /// without backups.
  public convenience init(
    path: String, access: Access = .create, busyTimeout: Duration = Device.defaultBusyTimeout,
    backups: BackupPolicy = .never, clock: WallClock = .system
  ) throws(KeepsakeError) {
    try Device.refuseFile(path)
    try self.init(
      path: path, access: access, busyTimeout: busyTimeout, backups: backups, clock: clock,
      folder: nil, identity: .random())
  }

  /// - Parameter identity: the replica ID of the device if its file has to be made.
  package init(
    path: String, access: Access, busyTimeout: Duration, backups: BackupPolicy = .never,
    clock: WallClock, folder: TemporaryFolder?, identity: ReplicaID,
    hooks: OpeningHooks = OpeningHooks()
  ) throws(KeepsakeError) {
    core = try CoreRegistry.core(
      path, access, busyTimeout: busyTimeout, identity: identity, folder: folder, hooks: hooks)
    self.clock = clock
    self.backups = backups
  }

  private init(core: Core, clock: WallClock) {
    self.core = core
    self.clock = clock
    backups = .never
  }

  /// A device in memory, gone with its last handle. It can be merged with other devices of this
  /// process.
  public static func inMemory(clock: WallClock = .system) throws(KeepsakeError) -> Device {
    try inMemory(identity: .random(), clock: clock)
  }

  package static func inMemory(
    identity: ReplicaID, clock: WallClock
  ) throws(KeepsakeError) -> Device {
    Device(core: try Core(Opening.memory(identity: identity), file: nil), clock: clock)
  }

  /// A device in a new temporary folder, which is deleted with the last handle on it.
  public static func temporary(clock: WallClock = .system) throws(KeepsakeError) -> Device {
    let folder = try TemporaryFolder()
    return try Device(
      path: folder.path + "/device.keepsake", access: .create, busyTimeout: defaultBusyTimeout,
      clock: clock, folder: folder, identity: .random())
  }

  /// Whether this device can only be read.
  public var isReadOnly: Bool { core.isReadOnly }

  /// Waits until everything that this process has written to the device is on stable storage, where
  /// it survives a power cut. A device in memory or opened read-only has nothing to wait for.
  ///
  /// - Throws: `KeepsakeError`; then the last writes may not survive a power cut.
  public func synchronize() throws(KeepsakeError) { try core.storage.synchronize() }

  /// Moves everything from the log into the file itself: before the file gets another name, because
  /// the log would keep the old one. Closing does the same, and cannot say that the disk was full.
  package func emptyLog() throws(KeepsakeError) {
    let storage = core.storage
    try Checkpoint.emptyLog(storage.location, waiting: storage.busyHandler.usual, storage.names)
  }

  /// The file's path; `(memory)` for a device in memory.
  public var path: String { core.storage.location.path }

  /// Whether what other processes write is seen: not where a file in a read-only folder is opened
  /// as immutable.
  package var seesOthers: Bool { core.storage.mode != .immutable }

  /// Equal for two devices iff they have one file; nil in memory.
  package var file: FileID? { core.storage.file }

  /// The versions of the file that reads compare.
  package var versions: ReadVersions { core.versions }

  /// The state that all handles on the file share within this process.
  package var shared: SharedState { core.shared }

  /// For tests alone.
  package var storageForTests: Storage { core.storage }
  /// For tests alone: how many threads set now, or wait to.
  package var setsUnderWay: Int { core.sets.count }

  /// Calls `handler` after every commit that changed something, whichever process made it, until
  /// the result is released.
  ///
  /// For a commit of this process, `handler` runs on a thread that committed; sets of several
  /// threads may share a commit, and are announced one by one all the same. For those of other
  /// processes it gets the net change, on a thread of its own, which the system wakes on Linux and
  /// which looks every 50 ms elsewhere: commits that follow each other closely arrive as one change
  /// set, each transaction whole.
  ///
  /// - Parameters:
  ///   - store: only changes of this store; nil for all.
  ///   - keys: only changes of these keys. What is observed is kept in memory, for the old values.
  ///   - handler: gets whole change sets in the order of their commits. It may read and write.
  ///   - onFailure: gets the reason why other processes' changes cannot be read. `locked` means
  ///     that another thread used the file for longer than the busy timeout: what other processes
  ///     commit until the next attempt is not reported. They are tried again, except where a file
  ///     in a read-only folder was opened without its log: there they cannot be seen, which is
  ///     reported at once.
  public func observe(
    store: String? = nil, _ keys: KeyFilter = .all,
    _ handler: @escaping @Sendable ([SettingChange]) -> Void,
    onFailure: @escaping @Sendable (KeepsakeError) -> Void
  ) -> ObservationToken {
    observe(store: store, keys: .some(keys), handler, onFailure: onFailure).token
  }

  /// Whether any observer gets changes.
  package var hasObservers: Bool { core.shared.feed.observers.wantChanges }
}

extension Device {
  /// Access to a device's file: reading, writing, or also making it.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Access: Sendable, Hashable {
    /// Reading and writing; a missing file is made.
    case create
    /// Reading and writing; a missing file is an error.
    case existing
    /// Reading only: the file and its folder may be read-only too.
    case readOnly
  }

  /// Whether the caller may not open a file. KeepsakeTesting sets it: in a container for a test the
  /// recipes of the application may not.
  package static let refusesFiles = Mutex<@Sendable () -> Bool> { false }

  static func refuseFile(_ path: String) throws(KeepsakeError) {
    let isRefused = refusesFiles.withLock { $0 }
    guard isRefused() else { return }
    throw KeepsakeError(
      .permissionDenied, path: path, "a recipe opens this file in a container for a test",
      cure: "take the registered Device from the container, as in `AppSettings(on: c.get())`")
  }
}
