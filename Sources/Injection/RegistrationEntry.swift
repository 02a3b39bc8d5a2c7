// SPDX-License-Identifier: Apache-2.0

import Synchronization

// Construction: the frame that claims the entry (`maker`) runs the recipe without a lock, wires the
// object (`@Injected` properties, `then:`, `didInject`) and then publishes it. Other threads wait
// for this entry only. A failed construction releases the claim, and the waiters retry. `set`
// claims in the same way, and takes the claim from a constructing frame, which then discards its
// object. A published object is never discarded while the container exists.
//
// No client code runs under a lock, not even a deinit: replaced objects are released afterwards.

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

  private func settle() {
    let object = base == nil ? made : base?.conversion(of: base?.made, for: self)
    // The box of a weak object does not keep it alive.
    let isOpen = isVacant && base?.isVacant != false && origin.recipe.scope != .weak
    open.store(isOpen ? object.map { .passUnretained($0) } : nil, ordering: .releasing)
    makesEachTime.store(isVacant && recipe.makesEachTime, ordering: .releasing)
    for alias in conversions.map(\.alias) where alias.base === self { alias.settle() }
  }

  private var current: AnyBox? { given?.current ?? made?.current }

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

  /// Returns the object and makes it if necessary; nil if there is no recipe and it is not set.
  func read(for asker: Container, new: Bool = false) throws -> AnyBox? {
    let isUnshared = new || recipe.scope == .transient
    var retries = CycleRetries()
    while true {
      switch claim(new: new, mayMake: !isUnshared && recipe.make != nil) {
      case .made(let made): return made
      case .claimed(let frame):
        do {
          let made = try construct(frame, in: site)
          if frame.end(try kept(made)) { return made }
        } catch {
          frame.fail()
          try retries.makePrerequisite(of: error, at: frame)
        }
      case .busy(let frame):
        let mayWait = frame.role == .setting || recipe.makeLater == nil
        guard let waiter = try frame.join(mayWait: mayWait) else { throw notReady }
        if let early = waiter.wait() { return early }
      case .unavailable:
        guard let base else { return recipe.isGiven ? nil : try makeUnshared(for: asker) }
        for holder in new ? [base] : asker.replacements(of: base) + [base] {
          let object = try holder.read(for: asker, new: new)
          if let object { return try convert(object, of: holder, for: asker) }
        }
        return nil
      }
    }
  }

  /// Makes a singleton if necessary, also by an asynchronous recipe.
  ///
  /// - Parameter container: its `site`, which the caller keeps.
  func prepare(in container: Container) async throws {
    var retries = CycleRetries()
    while true {
      switch claim(mayMake: recipe.make != nil || recipe.makeLater != nil) {
      case .made, .unavailable: return
      case .claimed(let frame):
        do {
          if frame.end(try await kept(constructLater(frame, in: container))) { return }
        } catch {
          frame.fail()
          try retries.makePrerequisite(of: error, at: frame)
        }
      case .busy(let frame):
        if try await frame.join()?.suspend() != nil { return }
      }
    }
  }

  private enum Claim {
    case made(AnyBox), claimed(ConstructionFrame), busy(ConstructionFrame), unavailable
  }

  private func claim(new: Bool = false, mayMake: Bool) -> Claim {
    let (made, other) = owner.locked { _ in (new ? nil : current, new ? nil : maker) }
    // During a `set` lookups return the old object, except those by the wiring of the new one.
    let isWithinOther = other.flatMap { ConstructionFrame.live?.isWithin($0) } ?? false
    if let made, !isWithinOther { return .made(made) }
    if let other { return .busy(other) }
    guard mayMake else { return .unavailable }
    let frame = ConstructionFrame(.shared, of: self, in: site)
    return ConstructionFrame.lock.withLock { _ in
      owner.locked { _ in
        if let made = current { return .made(made) }
        if let maker { return .busy(maker) }
        maker = frame
        return .claimed(frame)
      }
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

  /// The object of this alias for an object of its base, or of the entry that replaces its base:
  /// always the same one, as long as the holder has that object.
  private func convert(
    _ source: AnyBox, of holder: RegistrationEntry, for asker: Container
  ) throws -> AnyBox {
    guard let convert = recipe.convert else { return source }
    if let known = holder.owner.locked({ _ in holder.conversion(of: source, for: self) }) {
      return known
    }
    var frame = ConstructionFrame(.unshared, of: self, in: asker)
    defer { ConstructionFrame.end(&frame) }
    try refuseRecursion(frame)
    let new = try ConstructionFrame.$current.withValue(frame) {
      let new = convert(source)
      try asker.admit(new)
      return new
    }
    return ConstructionFrame.lock.withLock { _ in
      let isEarly = holder.maker?.early === source
      return holder.owner.locked { _ in
        if let known = holder.conversion(of: source, for: self) { return known }
        guard isEarly || source === holder.given || source === holder.made else { return new }
        holder.conversions.append(Conversion(alias: self, source: source, result: new))
        if holder === base { settle() }
        return new
      }
    }
  }

  var notReady: InjectionError {
    InjectionError(
      .notReady, path: ConstructionFrame.path(to: recipe.key),
      prerequisite: InjectionError.Prerequisite(self, in: site))
  }
}
