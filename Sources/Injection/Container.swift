// SPDX-License-Identifier: Apache-2.0

import Synchronization

// Threading: every method is thread-safe. The lock protects registrations and objects; no factory
// and no deinit runs under it, and no thread holds the locks of two containers. A lookup of a
// singleton that was made takes no lock: see `Entry.shortcut(for:)`.

/// Makes objects by registered recipes and keeps the shared ones.
///
/// Register recipes first, then look up: `let api = try container.get(Container.Key<any API>())`.
/// The first lookup makes a singleton; `start()` makes all of them.
public final class Container: Sendable, CustomStringConvertible {
  struct State: Sendable {
    /// In registration order, an alias after its base.
    var entries: [Entry] = []
    var byKey: [Target: Candidates] = [:]
    /// Regardless of names.
    var byType: [ObjectIdentifier: Candidates] = [:]
    /// The registrations that `set` made, by the inherited ones that they replace.
    var replacements: [ObjectIdentifier: Entry] = [:]
    /// The number of registrations so far, without aliases.
    var count = 0
    var start = Start()
  }

  /// The state of `start()`, and the tasks that wait in `ready()`.
  struct Start: Sendable {
    var isFinished = false
    var failure: (any Error)?
    var waiting: [ObjectIdentifier: Waiter] = [:]

    typealias Waiter = AsyncThrowingStream<Never, any Error>.Continuation
  }

  /// The entries that match a key.
  struct Candidates: Sendable {
    /// In registration order, each object once.
    private(set) var all: [Entry] = []
    /// The entries that a lookup without a name prefers.
    private(set) var primaries: [Entry] = []

    /// The only entry, or the only primary one.
    private(set) var choice: Entry?
  }

  /// The container for programs that need only one.
  public static let main = Container()

  /// Throws for an object that a container for a test must not have.
  ///
  /// - Parameter isOwn: whether the test made it or set it, and no copied recipe.
  typealias Admission = @Sendable (_ object: Any, _ isOwn: Bool) throws -> Void

  let parent: Container?
  let admission: Admission?
  private let state = Mutex(State())
  /// The registration that each key chooses here; no value if only the lock tells. Changes under
  /// the lock.
  let choices = LookupTree()
  /// Whether there are `replacements`. Changes under the lock.
  let hasReplacements = Atomic(false)

  /// An empty container.
  public convenience init() { self.init(parent: nil) }

  /// A container with the registrations of `modules`.
  public convenience init<E>(_ modules: (Container) throws(E) -> Void...) throws(E) {
    self.init(parent: nil)
    for module in modules { try module(self) }
  }

  init(parent: Container?, admission: Admission? = nil) {
    self.parent = parent
    self.admission = admission ?? parent?.admission
  }

  func locked<R: Sendable, E>(_ body: (inout State) throws(E) -> R) throws(E) -> R {
    try state.withLock { (state) throws(E) in try body(&state) }
  }

  /// Runs `body` with the lock. For tests of what needs no lock.
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

extension Entry {
  fileprivate var status: String {
    let (given, made) = state()
    if recipe.isGiven { return "external" + (given == nil ? ", not set" : ", set") }
    return recipe.scope.rawValue + (given != nil ? ", set" : made != nil ? ", made" : "")
      + (recipe.isPrimary ? ", primary" : "") + (recipe.makeLater == nil ? "" : ", async")
  }
}

// MARK: - Registering

extension Container.State {
  mutating func add(
    _ recipe: Recipe, to owner: Container, for site: Container? = nil, base: Entry? = nil,
    isTemporary: Bool = false
  ) -> Entry {
    let entry = Entry(
      recipe, in: owner, for: site ?? owner, order: base?.order ?? count, base: base,
      isTemporary: isTemporary)
    if base == nil { count += 1 }
    entries.append(entry)
    byKey[recipe.target, default: Container.Candidates()].add(entry)
    byType[recipe.target.id, default: Container.Candidates()].add(entry, recipe.isPrimary)
    publishChoices(of: entry)
    return entry
  }

  /// The registration that `set` changes in place of a parent's. The parent's keys and `then:` stay
  /// in force; its recipe and its object do not change.
  mutating func replacement(of inherited: Entry, in owner: Container) -> Entry {
    if let known = replacements[ObjectIdentifier(inherited)] { return known }
    var recipe = Recipe(target: inherited.recipe.target)
    recipe.then = inherited.recipe.then
    recipe.origin = inherited.recipe.origin
    let entry = Entry(recipe, in: owner, for: owner, inPlaceOf: inherited, isTemporary: true)
    replacements[ObjectIdentifier(inherited)] = entry
    owner.hasReplacements.store(true, ordering: .releasing)
    return entry
  }

  /// Removes what only `set` made, and has no object.
  mutating func discard(_ entry: Entry) {
    guard entry.isTemporary, entry.isVacant, !entry.isDiscarded else { return }
    entry.isDiscarded = true
    if let inherited = entry.inherited.map(ObjectIdentifier.init) {
      replacements[inherited] = nil
      return entry.owner.hasReplacements.store(!replacements.isEmpty, ordering: .releasing)
    }
    let target = entry.recipe.target
    entries.removeAll { $0 === entry }
    byKey[target]?.remove(entry)
    byType[target.id]?.remove(entry)
    if byKey[target]?.all.isEmpty == true { byKey[target] = nil }
    if byType[target.id]?.all.isEmpty == true { byType[target.id] = nil }
    publishChoices(of: entry)
  }

  /// Tells lookups without a lock what the keys of a registration choose.
  ///
  /// The tree keeps its keys, so it has none that only `set` registered, and no such choice.
  private func publishChoices(of entry: Entry) {
    for target in [entry.recipe.target, entry.recipe.target.unnamed] {
      let choice = candidates(target)?.choice
      let value = choice?.isTemporary == true ? nil : choice
      entry.owner.choices.set(value, for: target, adding: !entry.isTemporary)
    }
  }

  func candidates(_ target: Target) -> Container.Candidates? {
    target.name == nil ? byType[target.id] : byKey[target]
  }
}

extension Container.Candidates {
  mutating func add(_ entry: Entry, _ isPrimary: Bool = false) {
    let place = all.lastIndex { $0.order <= entry.order }.map { $0 + 1 } ?? 0
    if place > 0, all[place - 1].origin === entry.origin { return }
    all.insert(entry, at: place)
    if isPrimary { primaries.append(entry) }
    choose()
  }

  fileprivate mutating func remove(_ entry: Entry) {
    all.removeAll { $0 === entry }
    choose()
  }

  private mutating func choose() {
    choice = all.count == 1 ? all[0] : primaries.count == 1 ? primaries[0] : nil
  }

  func chosen(for target: Target) throws(InjectionError) -> Entry {
    if let choice { return choice }
    throw .unclear(target, all)
  }
}

extension InjectionError {
  static func unclear(_ target: Target, _ candidates: [Entry]) -> InjectionError {
    InjectionError(
      code: target.name == nil ? .ambiguous : .duplicate, path: Frame.path(to: target),
      candidates: candidates.map(\.origin.label),
      cure: target.name == nil
        ? "Make one of them, and no other, `primary: true`, or ask by name."
        : "Give each its own name.")
  }

  static func captured(_ target: Target) -> InjectionError {
    InjectionError(
      code: .captured, path: Frame.path(to: target),
      cure: "Use the container that is the recipe's argument.")
  }

  static func hidden(_ object: any Injectable, _ cure: String) -> InjectionError {
    InjectionError(code: .hidden, path: Frame.path(to: Target(type(of: object))), cure: cure)
  }

  static func notAClass(_ target: Target) -> InjectionError {
    InjectionError(
      code: .notAClass, path: Frame.path(to: target),
      cure: "Use another scope, or set it without `weak`.")
  }
}

extension Container {
  /// Identifies an object by its type and an optional name.
  ///
  /// Declare keys once, next to their type:
  /// `extension Container.Key where Value == any API { static var api: Self { Self("api") } }`.
  public struct Key<Value>: Sendable {
    @usableFromInline let target: Target

    /// A key for `Value`; without a name it matches every registration of the type.
    @inlinable public init(_ name: String? = nil) { target = Target(Value.self, name) }
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

/// The parameters of a registration.
@usableFromInline
struct Recipe: Sendable {
  var target: Target
  var scope = Container.Scope.singleton
  var isPrimary = false
  /// The declared arguments of a `using:` registration.
  var needs: [Target] = []
  var then: (@Sendable (AnyBox, Container) throws -> Void)?
  var makeLater: (@Sendable (Container) async throws -> AnyBox)?
  var make: (@Sendable (Container) throws -> AnyBox)?
  /// For an alias: converts the base's object to this key's type.
  var convert: (@Sendable (AnyBox) -> AnyBox)?
  /// For a copy in a fresh child, and for what a copy registers.
  var origin: CopyOrigin?

  /// Whether each lookup makes an object.
  var isPassing: Bool { scope == .transient && make != nil }
  /// Whether there is no recipe: only `set` provides the object.
  var isGiven: Bool { make == nil && makeLater == nil && convert == nil }
}
