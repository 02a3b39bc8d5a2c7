// SPDX-License-Identifier: Apache-2.0

import Synchronization

// Construction: the frame that claims the entry (`maker`) runs the recipe without a lock, wires the
// object (`@Injected` properties, `then:`, `didInject`) and then publishes it. Other threads wait
// for this entry only. A failed construction releases the claim, and the waiters retry. `set`
// claims in the same way, and takes the claim from a constructing frame, which then discards its
// object. A published object is never discarded while the container exists.
//
// No client code runs under a lock, not even a deinit: replaced objects are released afterwards.

/// The parameters of a registration.
@usableFromInline
struct Recipe: Sendable {
  var key: AnyKey
  var scope = Container.Scope.singleton
  var isPrimary = false
  /// The declared arguments of a `using:` registration.
  var needs: [AnyKey] = []
  var then: (@Sendable (AnyBox, Container) throws -> Void)?
  var makeLater: (@Sendable (Container) async throws -> AnyBox)?
  var make: (@Sendable (Container) throws -> AnyBox)?
  /// For an alias: converts the base's object to this key's type.
  var convert: (@Sendable (AnyBox) -> AnyBox)?
  /// For a copy in a fresh child, and for a registration by the recipe of such a copy.
  var origin: CopyOrigin?

  /// Whether each lookup makes a new object.
  var makesEachTime: Bool { scope == .transient && make != nil }
  /// Whether only `set` provides the object.
  var isGiven: Bool { make == nil && makeLater == nil && convert == nil }
}

/// A registration in one container, and its object.
// Sendable: the lock of the owner protects all mutable state. Changes of `maker` also need the lock
// of frames.
@usableFromInline
final class RegistrationEntry: @unchecked Sendable {
  let recipe: Recipe
  unowned let owner: Container
  /// The container that the recipe uses: the owner, or the fresh child that this is a copy for.
  unowned let site: Container
  /// For an alias: the entry for whose object it is another key.
  let base: RegistrationEntry?
  /// The index among the owner's registrations; for an alias that of the base.
  let order: Int
  /// The registration of a parent whose object `set` has replaced by the object of this one.
  let inherited: RegistrationEntry?
  /// Whether only `set` made it, so that `set(nil)` removes it.
  var isTemporary: Bool
  /// Whether it was removed. A `set` that is about to claim it has to look up its key again.
  var isDiscarded = false
  var made: AnyBox? { didSet { settle() } }
  /// The object of `set`, which takes precedence over `made`.
  var given: AnyBox? { didSet { settle() } }
  /// The objects of aliases.
  var conversions: [Conversion] = []
  var maker: ConstructionFrame? { didSet { settle() } }
  /// The object for lookups without the lock: `made`, or for an alias its conversion; nil while
  /// another object is set or about to be. Unretained, because `made` and its conversions stay as
  /// long as this entry.
  private let open = Atomic<Unmanaged<AnyBox>?>(nil)
  /// Whether each lookup without the lock makes a new object: nothing is set or about to be.
  private let makesEachTime: Atomic<Bool>
  /// A cache: the last type found not to be `Injectable`.
  let plainType = Atomic(0)

  init(
    _ recipe: Recipe, in owner: Container, for site: Container, order: Int = 0,
    base: RegistrationEntry? = nil, inPlaceOf inherited: RegistrationEntry? = nil, isTemporary: Bool
  ) {
    (self.recipe, self.owner, self.site, self.base) = (recipe, owner, site, base)
    (self.order, self.inherited, self.isTemporary) = (order, inherited, isTemporary)
    makesEachTime = Atomic(recipe.makesEachTime)
  }

  var label: String { recipe.key.label }
  /// Two entries with the same origin are one object under two keys.
  var origin: RegistrationEntry { base ?? self }

  /// The fast path of a lookup: returns the object, or makes one for the caller; nil if the lookup
  /// needs the slow path.
  func shortcut(for asker: Container) throws -> AnyBox? {
    if let object = open.load(ordering: .acquiring) { return object.takeUnretainedValue() }
    if makesEachTime.load(ordering: .acquiring) { return try makeUnshared(for: asker) }
    return owner.locked { _ in known }
  }

  // MARK: Under the lock

  /// The object; nil if the lookup needs the slow path.
  private var known: AnyBox? {
    if maker != nil { return nil }
    if let current { return current }
    guard let base, base.maker == nil else { return nil }
    return base.conversion(of: base.given ?? base.made, for: self)
  }

  /// Whether no object is set, nor about to be.
  var isVacant: Bool { given == nil && maker == nil }

  func settle() {
    let object = base == nil ? made : base?.conversion(of: base?.made, for: self)
    // The box of a weak object does not keep it alive.
    let isOpen = isVacant && base?.isVacant != false && origin.recipe.scope != .weak
    open.store(isOpen ? object.map { .passUnretained($0) } : nil, ordering: .releasing)
    makesEachTime.store(isVacant && recipe.makesEachTime, ordering: .releasing)
    for alias in conversions.map(\.alias) where alias.base === self { alias.settle() }
  }

  var current: AnyBox? { given?.current ?? made?.current }

  // MARK: Reading

  /// The objects, without deallocated weak ones.
  ///
  /// Call it without the lock: it may release the last reference to an object.
  func state() -> (given: AnyBox?, made: AnyBox?) {
    let (given, made) = owner.locked { _ in (self.given, self.made) }
    return (given?.current == nil ? nil : given, made?.current == nil ? nil : made)
  }

  /// Copies the object of `set`, if there is one. Only for a new entry that no other thread knows.
  func adopt(_ other: RegistrationEntry, if isShared: (Any) -> Bool) {
    guard let object = other.state().given, let content = object.current?.content,
      isShared(content)
    else { return }
    given = object
  }

  /// Makes the entry permanent: setting nil no longer removes it.
  ///
  /// - Returns: false if it has been removed.
  func declare() -> Bool {
    owner.locked { _ in
      if !isDiscarded { isTemporary = false }
      return !isDiscarded
    }
  }

  /// One object that was converted from another one.
  struct Conversion: Sendable {
    unowned let alias: RegistrationEntry
    let source: AnyBox
    let result: AnyBox
  }

  func conversion(of source: AnyBox?, for alias: RegistrationEntry) -> AnyBox? {
    conversions.first { $0.source === source && $0.alias === alias }?.result
  }
}
