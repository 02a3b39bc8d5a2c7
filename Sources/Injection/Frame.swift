// SPDX-License-Identifier: Apache-2.0

import Synchronization

// Tracks constructions, their callers and their waiters, to detect cycles and deadlocks.
//
// A frame is one construction in progress, or one container made current. Frames form a list from
// the innermost outwards; it is persistent and task-local, so the branches of an `async let` share
// their callers but do not see each other: a diamond is not a cycle. A `Task {}` started by a
// factory inherits the list; until the construction ends it counts as part of the factory, although
// that does not wait for it. Such a task may run as long as the process, so a construction's frame
// refers to its container and its entry, which its thread keeps, only weakly. A weak reference
// costs as much as the rest of a frame: the frame of an object that is not kept has none, but
// borrows the container while the construction is in progress.
//
// Invariant: the wait graph has no cycle. A frame waits for the frames that it called and those
// that it joined. One lock covers the check for a cycle and the recording of the wait, so of
// threads that need each other the last one to join detects the cycle.

// Sendable: one lock protects what changes.
final class Frame: @unchecked Sendable {
  /// Making an unshared object, making a shared one, setting one from outside, or being current.
  enum Role { case passing, making, setting, standing }

  @TaskLocal static var current: Frame?

  let target: Target?
  /// The entry of a shared object.
  private(set) weak var entry: Entry?
  private let entryID: ObjectIdentifier?
  /// The container that is current, which its tasks may need longer than the frame is open.
  private let standing: Container?
  let caller: Frame?
  let role: Role
  /// The origins of the recipe, and of the recipes around it that run in another container,
  /// which must not reach by this one what they must not reach themselves. A test's own recipe in
  /// the same container may.
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
  var uses: [Frame] = []
  /// The constructions that used this one's object.
  var users: [Frame] = []
  /// Whether its object must not be published.
  var isInvalid = false
  /// The container of an object that is not kept, until the frame is over.
  private var lent: Unmanaged<Container>?
  /// The container, if it is not lent.
  private(set) weak var weakContainer: Container?

  init(_ role: Role, _ entry: __shared Entry?, _ container: __shared Container) {
    self.role = role
    entryID = entry.map(ObjectIdentifier.init)
    if role == .passing { lent = .passUnretained(container) }
    if role != .passing { (self.entry, weakContainer) = (entry, container) }
    target = entry?.recipe.target
    standing = role == .standing ? container : nil
    let current = Frame.current
    caller = current?.live
    // Also of a recipe that has ended, and started this task.
    let outer = current?.origins ?? []
    let inherited =
      role == .standing || outer.isEmpty
      ? outer : outer.filter { [root = container.root] in $0.copy !== root }
    origins = (entry?.recipe.origin).map { [$0] + inherited } ?? inherited
  }

  /// The innermost frame in progress; a task may have outlived frames within it.
  static var live: Frame? { current?.live }
  private var live: Frame? { sequence(first: self, next: \.caller).first { !$0.isOver } }

  /// The container, as long as there is one.
  var container: Container? {
    Frame.lock.withLock { _ in lent?.takeUnretainedValue() ?? weakContainer }
  }
  var label: String? { target?.label }
  var isOver: Bool { over.load(ordering: .acquiring) }

  /// Whether it is a construction by an entry, and in progress.
  func isOpen(of entry: Entry) -> Bool { !isOver && entryID == ObjectIdentifier(entry) }

  /// From this frame outwards.
  var chain: [Frame] { Array(sequence(first: self, next: \.caller)) }

  /// The innermost construction of a shared object; nil for a lookup from outside.
  var shared: Frame? {
    sequence(first: self, next: \.caller).first {
      ($0.role == .making || $0.role == .setting) && !$0.isOver
    }
  }

  func isWithin(_ outer: Frame) -> Bool {
    sequence(first: self, next: \.caller).contains { $0 === outer }
  }

  static func path(to target: Target) -> [String] {
    (live?.chain ?? []).reversed().compactMap(\.label) + [target.label]
  }

  /// Ends a frame that no other one waits for or uses.
  func close() { over.store(true, ordering: .releasing) }

  /// Ends the frame of an object that is not kept.
  static func end(_ frame: inout Frame) {
    // Otherwise no task has the frame.
    if !isKnownUniquelyReferenced(&frame) { lock.withLock { [frame] _ in frame.giveBack() } }
    frame.close()
  }

  private func giveBack() {
    weakContainer = lent?.takeUnretainedValue()
    lent = nil
  }
}

/// The container that a recipe of a fresh child was copied from.
struct CopyOrigin: Sendable {
  /// The outermost of the copied containers, which the recipe may have captured.
  private(set) weak var original: Container?
  /// The outermost of the copies.
  private(set) weak var copy: Container?
  /// Whether the recipe is the application's, in a container for a test.
  let isForTest: Bool

  init(original: Container, copy: Container, isForTest: Bool) {
    (self.original, self.copy, self.isForTest) = (original, copy, isForTest)
  }

  /// The origin of the recipe that runs; a recipe that it registers may have captured the same.
  static var current: CopyOrigin? {
    let origins = Frame.current?.origins ?? []
    return origins.first(where: \.isForTest) ?? origins.first
  }
}
