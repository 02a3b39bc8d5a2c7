// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

// Tracks constructions, their callers and their waiters, to detect cycles and deadlocks.
//
// Frames form a list from the innermost outwards. The list is persistent and task-local, so the
// branches of an `async let` share their callers but do not see each other: a diamond is not a
// cycle. A `Task {}` started by a factory inherits the list. Until the construction ends the task
// counts as part of the factory, although the factory does not wait for it.
//
// Such a task may run as long as the process. So a construction's frame refers only weakly to its
// container and its entry, which the constructing thread keeps. A weak reference costs as much as
// the rest of a frame. The frame of an object that is not kept therefore has none, and borrows the
// container while the construction is in progress.
//
// Invariant: the wait graph has no cycle. A frame waits for the frames that it called and those
// that it joined. One lock covers the check for a cycle and the recording of the wait, so of
// threads that need each other the last one to join detects the cycle.

/// One construction in progress, or one container made current.
// Sendable: one lock protects what changes.
final class ConstructionFrame: @unchecked Sendable {
  enum Role {
    /// Makes an object that the container does not keep.
    case unshared
    /// Makes an object that the container keeps.
    case shared
    /// Sets an object from outside.
    case setting
    /// Makes a container current.
    case context
  }

  @TaskLocal static var current: ConstructionFrame?

  let key: AnyKey?
  /// The entry of a shared object.
  private(set) weak var entry: RegistrationEntry?
  private let entryID: ObjectIdentifier?
  /// The container that is current; tasks may use it after the frame is over.
  private let context: Container?
  let caller: ConstructionFrame?
  let role: Role
  /// The origins of the recipe, and of the recipes around it in other containers. These recipes
  /// must not reach by this one the objects that they must not reach directly. A test's own recipe
  /// in the same container may.
  let origins: [CopyOrigin]
  private let over = Atomic(false)

  // MARK: Under the lock

  static let lock = Mutex(())
  /// The object from its wiring on, for frames that would deadlock waiting for its publication.
  var early: AnyBox?
  /// The object to publish; nil until the construction is complete.
  var built: AnyBox?
  var waiters: [Waiter] = []
  /// The constructions in progress whose objects this one used.
  var uses: [ConstructionFrame] = []
  /// The constructions that used this one's object.
  var users: [ConstructionFrame] = []
  /// Whether its object must be discarded.
  var isInvalid = false
  /// The container of an object that is not kept, until the frame is over.
  private var lent: Unmanaged<Container>?
  /// The container, if it is not lent.
  private(set) weak var weakContainer: Container?

  init(
    _ role: Role, of entry: __shared RegistrationEntry?, in container: __shared Container
  ) {
    self.role = role
    entryID = entry.map(ObjectIdentifier.init)
    if role == .unshared { lent = .passUnretained(container) }
    if role != .unshared { (self.entry, weakContainer) = (entry, container) }
    key = entry?.recipe.key
    context = role == .context ? container : nil
    let current = ConstructionFrame.current
    caller = current?.live
    // Also the origins of a recipe that started this task and has ended.
    let outer = current?.origins ?? []
    let inherited =
      role == .context || outer.isEmpty
      ? outer : outer.filter { [root = container.root] in $0.copy !== root }
    origins = (entry?.recipe.origin).map { [$0] + inherited } ?? inherited
  }

  /// The innermost frame in progress; a task may have outlived frames within it.
  static var live: ConstructionFrame? { current?.live }
  private var live: ConstructionFrame? { chain.first { !$0.isOver } }

  /// The container, as long as there is one.
  var container: Container? {
    ConstructionFrame.lock.withLock { _ in lent?.takeUnretainedValue() ?? weakContainer }
  }
  var label: String? { key?.label }
  var isOver: Bool { over.load(ordering: .acquiring) }

  /// Whether it is a construction by an entry, and in progress.
  func isOpen(of entry: RegistrationEntry) -> Bool { !isOver && entryID == ObjectIdentifier(entry) }

  /// From this frame outwards.
  var chain: some Sequence<ConstructionFrame> { sequence(first: self, next: \.caller) }

  /// The innermost construction of a shared object; nil for a lookup from outside.
  var enclosingShared: ConstructionFrame? {
    chain.first { ($0.role == .shared || $0.role == .setting) && !$0.isOver }
  }

  func isWithin(_ outer: ConstructionFrame) -> Bool {
    chain.contains { $0 === outer }
  }

  static func path(to key: AnyKey) -> [String] {
    (live?.chain.compactMap(\.label) ?? []).reversed() + [key.label]
  }

  /// Ends a frame that no other one waits for or uses.
  func close() { over.store(true, ordering: .releasing) }

  /// Ends the frame of an object that is not kept.
  static func end(_ frame: inout ConstructionFrame) {
    // A task may have the frame, and outlive the container.
    if !isKnownUniquelyReferenced(&frame) { lock.withLock { [frame] _ in frame.replaceLoan() } }
    frame.close()
  }

  private func replaceLoan() {
    weakContainer = lent?.takeUnretainedValue()
    lent = nil
  }
}

/// The container that a recipe of a fresh child was copied from.
// Sendable: constant but for the weak references, which only become nil.
final class CopyOrigin: @unchecked Sendable {
  /// The outermost of the copied containers, which the recipe may have captured.
  private(set) weak var original: Container?
  /// The outermost of the copies.
  private(set) weak var copy: Container?
  /// Whether the recipe is the application's, in a container for a test.
  let isForTest: Bool

  init(original: Container, copy: Container, isForTest: Bool) {
    (self.original, self.copy, self.isForTest) = (original, copy, isForTest)
  }

  /// The origin of the recipe that runs. A recipe that it registers may have captured the same
  /// container.
  static var current: CopyOrigin? {
    let origins = ConstructionFrame.current?.origins ?? []
    return origins.first(where: \.isForTest) ?? origins.first
  }
}

/// A wait for a frame.
// Sendable: `early` is written before `group.leave()` and read after the wait for it.
final class Waiter: @unchecked Sendable {
  let frame = ConstructionFrame.live
  let group = DispatchGroup()
  var early: AnyBox?

  func wake() { group.leave() }

  /// Blocks the thread.
  ///
  /// - Returns: the early object if waiting for the published one would deadlock.
  func wait() -> AnyBox? {
    group.wait()
    return early
  }

  /// As `wait()`, suspending the task.
  func suspend() async -> AnyBox? {
    await withCheckedContinuation { task in group.notify(queue: .global()) { task.resume() } }
    return early
  }
}
