// SPDX-License-Identifier: Apache-2.0

import Synchronization

// Threading: every method may be called from anywhere. The lock is held for looking up and for
// changing what is registered and kept, never while a factory or a deinit runs. A container takes
// its own lock only, one after the other on the way to its parents.

/// Knows how objects are made and keeps those that are shared.
///
/// Register recipes first, then ask: `let api = try container.get(Container.Key<any API>())`.
/// Nothing starts by itself: singletons are made when first asked for, or all of them by `start()`.
public final class Container: Sendable, CustomStringConvertible {
  struct State: Sendable {
    var entries: [Entry] = []
    /// In registration order, each object once; under a target without name, all of the type.
    var candidates: [Target: [Entry]] = [:]
    /// What lookups found, good until the next of `changes`. By type for keys without a name:
    /// identifiers are hashed faster.
    var found: (byType: [ObjectIdentifier: Found], byName: [Target: Found]) = ([:], [:])
    var changes = 0
    /// In a fresh container, by the entry that is made anew.
    var renewed: [ObjectIdentifier: (original: Entry, copy: Entry)] = [:]
    /// A fresh child was made current somewhere, see `inForce`.
    var isStoodFor = false
    var isReady = false
    var waiting: [AsyncStream<Never>.Continuation] = []
  }

  enum Found: Sendable {
    /// An object that stays.
    case made(AnyBox)
    /// A transient recipe, and nothing is set in its place.
    case passing(Entry)
  }

  /// The container for programs that need only one.
  public static let main = Container()

  let parent: Container?
  /// Whether what the parents make is made anew here.
  let isFresh: Bool
  private let state = Mutex(State())

  /// A container filled by `modules`, functions that register what belongs together.
  public convenience init(_ modules: (Container) -> Void...) {
    self.init(parent: nil)
    modules.forEach { $0(self) }
  }

  init(parent: Container?, isFresh: Bool = false) {
    (self.parent, self.isFresh) = (parent, isFresh)
  }

  func locked<R: Sendable, E>(_ body: (inout State) throws(E) -> R) throws(E) -> R {
    try state.withLock { (state) throws(E) in try body(&state) }
  }

  /// One line for each registration: its keys, its scope, and whether it is made.
  public var description: String {
    let (entries, all) = locked { ($0.entries, $0.candidates.values.flatMap(\.self)) }
    let lines = entries.map { entry in
      let keys = Set(all.filter { $0.origin === entry }.map(\.label)).subtracting([entry.label])
      return ([entry.label] + keys.sorted()).joined(separator: ", ") + ": " + entry.status
    }
    let own = lines.isEmpty ? "nothing registered" : lines.joined(separator: "\n")
    return own + (parent.map { "\nparent:\n\($0)" } ?? "")
  }
}

extension Entry {
  fileprivate var status: String {
    let (made, isSet) = owner.locked { _ -> (AnyBox?, Bool) in (kept?.current, self.isSet) }
    let state = made == nil ? "" : isSet ? ", set" : ", made"
    if recipe.isGiven { return "external" + (made == nil ? ", not set" : ", set") }
    return recipe.scope.rawValue + state + (recipe.isPrimary ? ", primary" : "")
      + (recipe.makeLater == nil ? "" : ", async")
  }
}

// MARK: - Looking up

extension Container.State {
  mutating func add(_ recipe: Recipe, _ owner: Container, base: Entry? = nil) -> Entry {
    let order = base?.order ?? entries.count
    let entry = Entry(recipe, in: owner, order: order, base: base)
    if base == nil { entries.append(entry) }
    for target in Set([recipe.target, Target(recipe.target.type)]) {
      // What is set takes the place of an alias.
      var all = (candidates[target] ?? []).filter {
        !(recipe.isGiven && $0.base != nil && $0.recipe.target == recipe.target)
      }
      guard !all.contains(where: { $0.origin === entry.origin }) else { continue }
      all.insert(entry, at: all.lastIndex { $0.order < entry.order }.map { $0 + 1 } ?? 0)
      candidates[target] = all
    }
    return entry
  }

  func recall(_ target: Target) -> Container.Found? {
    target.name == nil ? found.byType[target.id] : found.byName[target]
  }

  mutating func remember(_ entry: Entry, _ made: AnyBox?, for target: Target) {
    var new = entry.recipe.scope == .transient ? Container.Found.passing(entry) : nil
    if let made, let kept = entry.origin.kept { new = kept.lasts ? .made(made) : nil }
    if isStoodFor { return }
    if target.name == nil { found.byType[target.id] = new } else { found.byName[target] = new }
  }

  /// What is forgotten is for the caller, to leave the lock before it goes.
  mutating func change() -> any Sendable {
    defer { (found, changes) = (([:], [:]), changes + 1) }
    return found
  }
}

extension Target {
  fileprivate func choice(_ all: [Entry]) throws(InjectionError) -> Entry? {
    if all.count < 2 { return all.first }
    let primary = name == nil ? all.filter(\.recipe.isPrimary) : []
    guard primary.count == 1 else { throw .unclear(self, all) }
    return primary[0]
  }
}

extension Container {
  /// What a key stands for: the nearest container with a candidate decides.
  func locate(_ target: Target) throws(InjectionError) -> Entry? {
    try target.choice(candidates(target))
  }

  /// The object of the only registration, or the only primary one, of a subclass.
  package func instance<Class: AnyObject>(ofSubclassOf superclass: Class.Type) throws -> Class? {
    let all = registrations.filter {
      $0.recipe.target.type is Class.Type && $0.recipe.target.type != superclass
    }
    return try Target(superclass).choice(all)?.read(for: self)?.content as? Class
  }

  /// All that is filed under a key, in the nearest container that has any.
  func candidates(_ target: Target) -> [Entry] {
    locked { $0.candidates[target] } ?? parent?.candidates(target).map(renewed) ?? []
  }

  /// Every registration that is not replaced by one with the same key nearer by.
  var registrations: [Entry] {
    let own = locked { $0.entries }
    let keys = Set(own.map(\.recipe.target))
    let inherited = parent?.registrations.filter { !keys.contains($0.recipe.target) } ?? []
    return inherited.map(renewed) + own
  }

  /// In a fresh container the same with nothing made, unless it comes from outside.
  private func renewed(_ old: Entry) -> Entry {
    let isOutside = old.owner.locked { _ in old.origin.recipe.isGiven || old.origin.isSet }
    guard isFresh, !isOutside else { return old }
    let base = old.base.map(renewed)
    return locked { state in
      let id = ObjectIdentifier(old)
      let copy =
        state.renewed[id]?.copy
        ?? Entry(old.recipe, in: self, order: old.order, base: base)
      state.renewed[id] = (old, copy)
      return copy
    }
  }
}
