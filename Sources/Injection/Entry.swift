// SPDX-License-Identifier: Apache-2.0

import Synchronization

// Construction: the frame that claims the entry (`maker`) runs the recipe without a lock, wires the
// object (`@Injected` properties, `then:`, `didInject`) and then publishes it. Other threads wait
// for this entry only. A failed construction releases the claim, and the waiters retry. `set`
// claims in the same way; it takes the claim from a constructing frame, which then discards its
// object. The object that was made is never discarded while the container exists.
//
// No client code runs under a lock, not even a deinit: replaced objects are released after it.

/// A registration in one container, and its object.
// Sendable: the lock of the owner protects all mutable state; who changes `maker` also has the lock
// of frames.
@usableFromInline
final class Entry: @unchecked Sendable {
  let recipe: Recipe
  unowned let owner: Container
  /// The container that the recipe uses: the owner, or the fresh child that this is a copy for.
  unowned let site: Container
  /// For an alias: the entry that it is another key of.
  let base: Entry?
  /// The index among the owner's registrations; for an alias that of the base.
  let order: Int
  /// The registration of a parent whose object `set` has replaced by that of this one.
  let inherited: Entry?
  /// Whether only `set` made it, so that `set(nil)` removes it.
  var isTemporary: Bool
  /// Whether it was removed; a `set` that is about to claim it has to look up its key again.
  var isDiscarded = false
  var made: AnyBox? { didSet { settle() } }
  /// The object of `set`, which takes precedence over `made`.
  var given: AnyBox? { didSet { settle() } }
  /// The objects of aliases.
  var conversions: [Conversion] = []
  var maker: Frame? { didSet { settle() } }
  /// The object for lookups without the lock: what was made, or for an alias its conversion, while
  /// nothing is set or about to be. It is unretained: `made` and its conversions stay as long as
  /// this entry.
  private let open = Atomic<Unmanaged<AnyBox>?>(nil)
  /// Whether lookups without the lock make a new object each: nothing is set or about to be.
  private let passes: Atomic<Bool>
  /// A cache: the last type found not to be `Injectable`.
  let plainType = Atomic(0)

  init(
    _ recipe: Recipe, in owner: Container, for site: Container, order: Int = 0,
    base: Entry? = nil, inPlaceOf inherited: Entry? = nil, isTemporary: Bool
  ) {
    (self.recipe, self.owner, self.site, self.base) = (recipe, owner, site, base)
    (self.order, self.inherited, self.isTemporary) = (order, inherited, isTemporary)
    passes = Atomic(recipe.isPassing)
  }

  var label: String { recipe.target.label }
  /// Two entries with the same origin are one object under two keys.
  var origin: Entry { base ?? self }

  /// The fast path of a lookup: returns the object, or makes one for the caller; nil if it takes
  /// the slow one.
  func shortcut(for asker: Container) throws -> AnyBox? {
    if let object = open.load(ordering: .acquiring) { return object.takeUnretainedValue() }
    if passes.load(ordering: .acquiring) { return try makeUnshared(for: asker) }
    return owner.locked { _ in known }
  }

  // MARK: Under the lock

  /// The object, unless the slow path has to tell.
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
    let isOpen = isVacant && base?.isVacant != false && object?.lasts == true
    open.store(isOpen ? object.map { .passUnretained($0) } : nil, ordering: .releasing)
    passes.store(isVacant && recipe.isPassing, ordering: .releasing)
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
  func adopt(_ other: Entry, if isShared: (Any) -> Bool) {
    guard let object = other.state().given, let content = object.current?.content,
      isShared(content)
    else { return }
    given = object
  }

  /// Makes it stay when nil is set.
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
    let passes = new || recipe.scope == .transient
    var detours = Detours()
    while true {
      switch claim(new: new, mayMake: !passes && recipe.make != nil) {
      case .made(let made): return made
      case .claimed(let frame):
        let made = Result { try construct(frame, site) }
        do {
          if try end(frame, made.flatMap(kept)) { return try made.get() }
        } catch {
          try detours.take(error, at: frame)
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
    var detours = Detours()
    while true {
      switch claim(mayMake: recipe.make != nil || recipe.makeLater != nil) {
      case .made, .unavailable: return
      case .claimed(let frame):
        let made = await constructLater(frame, container)
        do {
          if try end(frame, made.flatMap(kept)) { return }
        } catch {
          try detours.take(error, at: frame)
        }
      case .busy(let frame):
        if try await frame.join()?.suspend() != nil { return }
      }
    }
  }

  private enum Claim {
    case made(AnyBox), claimed(Frame), busy(Frame), unavailable
  }

  private func claim(new: Bool = false, mayMake: Bool) -> Claim {
    let (made, other) = owner.locked { _ in (new ? nil : current, new ? nil : maker) }
    // During a `set` lookups return the old object, except those by the wiring of the new one.
    if let made, other.map({ Frame.live?.isWithin($0) ?? false }) != true { return .made(made) }
    if let other { return .busy(other) }
    guard mayMake else { return .unavailable }
    let frame = Frame(.making, self, site)
    return Frame.lock.withLock { _ in
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
    unowned let alias: Entry
    let source: AnyBox
    let result: AnyBox
  }

  func conversion(of source: AnyBox?, for alias: Entry) -> AnyBox? {
    conversions.first { $0.source === source && $0.alias === alias }?.result
  }

  /// The object of this alias for one of its base, or of what `set` put in place of its base: the
  /// same one at each time, as long as the holder has that object.
  private func convert(
    _ source: AnyBox, of holder: Entry, for asker: Container
  ) throws -> AnyBox {
    guard let convert = recipe.convert else { return source }
    if let known = holder.owner.locked({ _ in holder.conversion(of: source, for: self) }) {
      return known
    }
    var frame = Frame(.passing, self, asker)
    defer { Frame.end(&frame) }
    try refuseRecursion(frame)
    let new = try Frame.$current.withValue(frame) {
      let new = convert(source)
      try asker.admit(new)
      return new
    }
    return Frame.lock.withLock { _ in
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
      code: .notReady, path: Frame.path(to: recipe.target),
      pending: InjectionError.Pending(self, in: site),
      cure: "Await `container.start()` first, or ask with `await container.resolve()`.")
  }
}
