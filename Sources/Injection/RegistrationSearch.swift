// SPDX-License-Identifier: Apache-2.0

import Synchronization

extension Container {
  /// The registrations of this container and its parents, without those that a nearer container
  /// replaces.
  var registrations: [RegistrationEntry] {
    let own = locked { $0.entries.filter { $0.base == nil } }
    let keys = Set(own.map(\.recipe.key))
    let inherited = parent?.registrations.filter { !keys.contains($0.recipe.key) } ?? []
    return inherited + own
  }

  /// The object of the only registration of a subclass, or of the only primary one.
  package func instance<Class: AnyObject>(ofSubclassOf superclass: Class.Type) throws -> Class? {
    let subclasses = registrations.filter {
      $0.recipe.key.type is Class.Type && $0.recipe.key.type != superclass
    }
    guard !subclasses.isEmpty else { return nil }
    let entry = try Candidates(key: AnyKey(superclass), all: subclasses).chosen()
    return try object(of: entry)?.content as? Class
  }

  /// The object for a key; nil if it is not registered or not set.
  func supply(_ key: AnyKey) throws -> AnyBox? {
    try refuseCapture(key)
    let choice = choice(key)
    if let object = try choice?._withUnsafeGuaranteedRef({ try $0.shortcut(for: self) }) {
      return object
    }
    if let made = try nearest(key, { try object(of: $0.chosen()) }) { return made }
    return try key.wrapped.map { type, wrapped in type.rebox(try supply(wrapped)) }
  }

  /// The registration that a lookup uses, found without a lock; nil if the lookup needs the lock.
  ///
  /// The nearest container that knows the key decides. Made objects, registrations and containers
  /// stay as long as this container, which its caller keeps.
  private func choice(_ key: AnyKey) -> Unmanaged<RegistrationEntry>? {
    if let choice = choices.find(key) { return choice }
    return hasReplacements.load(ordering: .acquiring) ? nil : parent?.choice(key)
  }

  /// The object of a registration in view, as this container sees it; nil if there is no recipe and
  /// it is not set.
  func object(of entry: RegistrationEntry) throws -> AnyBox? {
    for replacement in replacements(of: entry) {
      if let object = try replacement.read(for: self) { return object }
    }
    return try entry.read(for: self)
  }

  /// The registrations that replace one of a parent, the nearest first. `set` made them in this
  /// container, and in those between it and the parent.
  func replacements(of entry: RegistrationEntry) -> [RegistrationEntry] {
    var found: [RegistrationEntry] = []
    for container in lineage {
      if container === entry.owner { break }
      guard container.hasReplacements.load(ordering: .acquiring) else { continue }
      let replacement = container.locked { $0.replacements[ObjectIdentifier(entry)] }
      if let replacement { found.append(replacement) }
    }
    return found
  }

  /// Whether a lookup of this container finds an object that was set for a registration.
  func isSet(_ entry: RegistrationEntry) -> Bool {
    (replacements(of: entry) + [entry]).contains { $0.state().given != nil }
  }

  /// The registration that a lookup of this container uses.
  func locate(_ key: AnyKey) throws(InjectionError) -> RegistrationEntry? {
    try nearest(key) { candidates throws(InjectionError) in try candidates.chosen() }
  }

  /// Throws if this is the original container, and the lookup is by a recipe that was copied for a
  /// fresh child: the recipe has captured this container, so the copy would use its objects.
  func refuseCapture(_ key: AnyKey) throws(InjectionError) {
    guard Container.hasCopies.load(ordering: .relaxed),
      let origins = ConstructionFrame.current?.origins, !origins.isEmpty
    else { return }
    let root = root
    guard origins.contains(where: { $0.original === root }) else { return }
    throw InjectionError(.captured, path: ConstructionFrame.path(to: key))
  }

  /// Whether a fresh child was made in this process. If not, lookups need no check for captures.
  static let hasCopies = Atomic(false)

  var root: Container { parent?.root ?? self }

  /// This container and its parents, the nearest first.
  var lineage: [Container] { Array(sequence(first: self, next: \.parent)) }

  /// The first non-nil result for the candidates of this container, then of its parents. A
  /// registration without a recipe that is not set gives nil.
  func nearest<R, E>(_ key: AnyKey, _ use: (Candidates) throws(E) -> R?) throws(E) -> R? {
    for container in lineage {
      let candidates = container.locked { $0.candidates[key] }
      if let candidates, let result = try use(candidates) { return result }
    }
    return nil
  }
}
