// SPDX-License-Identifier: Apache-2.0

import Synchronization

// Threading: every method is thread-safe. The lock protects registrations and objects. No factory
// and no deinit runs under it, and no thread holds the locks of two containers. A lookup of a
// singleton that exists takes no lock: see `RegistrationEntry.shortcut(for:)`.

/// Makes objects by registered recipes, and keeps the shared ones.
///
/// Register recipes first, then look up: `let api = try container.get(Container.Key<any API>())`.
/// The first lookup makes a singleton; `start()` makes all of them.
public final class Container: Sendable, CustomStringConvertible {
  struct State: Sendable {
    /// In registration order, an alias after its base.
    var entries: [RegistrationEntry] = []
    /// The registrations that each key matches.
    var candidates: [AnyKey: Candidates] = [:]
    /// The registrations that `set` made, by the inherited ones that they replace.
    var replacements: [ObjectIdentifier: RegistrationEntry] = [:]
    /// The number of registrations so far, without aliases.
    var count = 0
    var start = StartState()
  }

  /// The registrations that a key matches.
  struct Candidates: Sendable {
    let key: AnyKey
    /// In registration order, each object once.
    var all: [RegistrationEntry] = []

    /// The registrations that a lookup without a name prefers.
    var primaries: [RegistrationEntry] { key.name == nil ? all.filter(\.recipe.isPrimary) : [] }

    /// The only registration, or the only primary one.
    var choice: RegistrationEntry? {
      if all.count == 1 { return all[0] }
      let primaries = primaries
      return primaries.count == 1 ? primaries[0] : nil
    }
  }

  /// The state of `start()`, and the tasks that wait in `ready()`.
  struct StartState: Sendable {
    var isFinished = false
    var failure: (any Error)?
    var waiting: [ObjectIdentifier: Continuation] = [:]

    typealias Continuation = AsyncThrowingStream<Never, any Error>.Continuation
  }

  /// The container for programs that need only one.
  public static let main = Container()

  /// Throws for an object that a test's container must not hold.
  ///
  /// - Parameter isOwn: whether the test made or set the object itself; false for a copied recipe.
  typealias AdmissionCheck = @Sendable (_ object: Any, _ isOwn: Bool) throws -> Void

  let parent: Container?
  let admission: AdmissionCheck?
  private let state = Mutex(State())
  /// The registration that a lookup by each key uses; no value if the lookup needs the lock.
  /// Changes under the lock.
  let choices = LookupTree<RegistrationEntry>()
  /// Whether there are `replacements`. Changes under the lock.
  let hasReplacements = Atomic(false)

  /// An empty container.
  public convenience init() { self.init(parent: nil) }

  /// A container with the registrations of `modules`.
  public convenience init<E>(_ modules: (Container) throws(E) -> Void...) throws(E) {
    self.init(parent: nil)
    for module in modules { try module(self) }
  }

  init(parent: Container?, admission: AdmissionCheck? = nil) {
    self.parent = parent
    self.admission = admission ?? parent?.admission
  }

  func locked<R: Sendable, E>(_ body: (inout State) throws(E) -> R) throws(E) -> R {
    try state.withLock { (state) throws(E) in try body(&state) }
  }

  /// Runs `body` with the lock. For tests of lookups without the lock.
  package func whileLocked(_ body: () -> Void) { state.withLock { _ in body() } }

  /// One line for each registration: its keys, its scope, and whether its object exists.
  public var description: String {
    let (entries, replacements) = locked { ($0.entries, $0.replacements.values.map(\.label)) }
    let registrations = Dictionary(grouping: entries, by: \.order).sorted { $0.key < $1.key }
    var lines = registrations.map { _, same in
      let keys = same.map { entry in
        entry.label + (entry.base != nil && entry.state().given != nil ? " (set)" : "")
      }
      return keys.joined(separator: ", ") + ": " + same[0].status
    }
    lines += replacements.sorted().map { "\($0): set in place of the parent's" }
    let own = lines.isEmpty ? "nothing registered" : lines.joined(separator: "\n")
    return own + (parent.map { "\nparent:\n\($0)" } ?? "")
  }
}

extension RegistrationEntry {
  fileprivate var status: String {
    let (given, made) = state()
    if recipe.isGiven { return "external" + (given == nil ? ", not set" : ", set") }
    return recipe.scope.rawValue + (given != nil ? ", set" : made != nil ? ", made" : "")
      + (recipe.isPrimary ? ", primary" : "") + (recipe.makeLater == nil ? "" : ", async")
  }
}

extension Container {
  /// Identifies an object by its type and an optional name.
  ///
  /// Declare keys once, next to their type:
  /// `extension Container.Key where Value == any API { static var api: Self { Self("api") } }`.
  public struct Key<Value>: Sendable {
    @usableFromInline let erased: AnyKey

    /// A key for `Value`; without a name it matches every registration of the type.
    @inlinable public init(_ name: String? = nil) { erased = AnyKey(Value.self, name: name) }
  }

  /// The lifetime of objects.
  public enum Scope: String, Sendable {
    /// One object, kept as long as the container.
    case singleton
    /// One object, kept only as long as there are strong references outside the container.
    case weak
    /// A new object for each lookup.
    case transient
  }
}
