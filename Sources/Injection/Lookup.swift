// SPDX-License-Identifier: Apache-2.0

import Synchronization

extension Container {
  /// The registrations of this container and its parents, without those that a nearer container
  /// replaces.
  var registrations: [Entry] {
    let own = locked { $0.entries.filter { $0.base == nil } }
    let keys = Set(own.map(\.recipe.target))
    let inherited = parent?.registrations.filter { !keys.contains($0.recipe.target) } ?? []
    return inherited + own
  }

  /// The object of the only registration of a subclass, or of the only primary one.
  package func instance<Class: AnyObject>(ofSubclassOf superclass: Class.Type) throws -> Class? {
    var subclasses = Candidates()
    for entry in registrations where entry.recipe.target.type is Class.Type {
      if entry.recipe.target.type != superclass { subclasses.add(entry, entry.recipe.isPrimary) }
    }
    guard !subclasses.all.isEmpty else { return nil }
    let entry = try subclasses.chosen(for: Target(superclass))
    return try object(of: entry)?.content as? Class
  }

  /// The object for a key; nil if it is not registered or not set.
  func supply(_ target: Target) throws -> AnyBox? {
    try refuseCapture(target)
    let choice = choice(target)
    if let object = try choice?._withUnsafeGuaranteedRef({ try $0.shortcut(for: self) }) {
      return object
    }
    if let made = try nearest(target, { try object(of: $0.chosen(for: target)) }) { return made }
    return try target.wrapped.map { type, wrapped in type.rebox(try supply(wrapped)) }
  }

  /// The registration that a lookup uses, without a lock; nil if only the lock tells.
  ///
  /// The nearest container that knows the key decides. Made objects, registrations and containers
  /// stay as long as this container, which its caller keeps.
  private func choice(_ target: Target) -> Unmanaged<Entry>? {
    if let choice = choices.find(target) { return choice }
    return hasReplacements.load(ordering: .acquiring) ? nil : parent?.choice(target)
  }

  /// The object of a registration in view, as this container sees it; nil if there is no recipe and
  /// it is not set.
  func object(of entry: Entry) throws -> AnyBox? {
    for replacement in replacements(of: entry) {
      if let object = try replacement.read(for: self) { return object }
    }
    return try entry.read(for: self)
  }

  /// The registrations that replace one of a parent, the nearest first: `set` has made them in this
  /// container, and in those between it and the parent.
  func replacements(of entry: Entry) -> [Entry] {
    var found: [Entry] = []
    for container in sequence(first: self, next: \.parent) {
      if container === entry.owner { break }
      guard container.hasReplacements.load(ordering: .acquiring) else { continue }
      let replacement = container.locked { $0.replacements[ObjectIdentifier(entry)] }
      if let replacement { found.append(replacement) }
    }
    return found
  }

  /// Whether a lookup of this container finds an object that was set for a registration.
  func isSet(_ entry: Entry) -> Bool {
    (replacements(of: entry) + [entry]).contains { $0.state().given != nil }
  }

  /// The registration that a lookup of this container uses.
  func locate(_ target: Target) throws(InjectionError) -> Entry? {
    try nearest(target) { candidates throws(InjectionError) in try candidates.chosen(for: target) }
  }

  /// Throws if a recipe that was copied for a fresh child asks the original container.
  ///
  /// The recipe has captured that container, so the copy would use the objects of the original.
  func refuseCapture(_ target: Target) throws(InjectionError) {
    guard Container.hasCopies.load(ordering: .relaxed),
      let origins = Frame.current?.origins, !origins.isEmpty
    else { return }
    let root = root
    if origins.contains(where: { $0.original === root }) { throw .captured(target) }
  }

  /// Whether any fresh child was made: a program has none, so that its lookups check nothing.
  static let hasCopies = Atomic(false)

  var root: Container { parent?.root ?? self }

  /// The first non-nil result for the candidates of this container, then of its parents. A
  /// registration without a recipe that is not set gives nil.
  func nearest<R, E>(_ target: Target, _ use: (Candidates) throws(E) -> R?) throws(E) -> R? {
    for container in sequence(first: self, next: \.parent) {
      let candidates = container.locked { $0.candidates(target) }
      if let candidates, let result = try use(candidates) { return result }
    }
    return nil
  }
}
