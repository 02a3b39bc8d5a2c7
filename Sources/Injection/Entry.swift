// SPDX-License-Identifier: Apache-2.0

import Synchronization

// Construction: the frame that claims the entry (`maker`) runs the recipe without a lock, wires the
// object (`@Injected` properties, `then:`, `didInject`) and then publishes it. Other threads wait
// for this entry only. A failed construction releases the claim, and the waiters retry. `set`
// claims in the same way; it takes the claim from a constructing frame, which then discards its
// object.
//
// No client code runs under a lock, not even a deinit: replaced objects are released after it.

/// A registration in one container, and its object.
// Sendable: the lock of the owner protects all mutable state.
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
  private var made: AnyBox? { didSet { settle() } }
  /// The object of `set`, which takes precedence over `made`.
  private var given: AnyBox? { didSet { settle() } }
  /// The converted object for each alias.
  private var converted: [ObjectIdentifier: AnyBox] = [:]
  private var maker: Frame? { didSet { settle() } }
  /// The object, if its scope keeps it, and while no thread makes or sets another one.
  private var settled: AnyBox?
  /// A cache: the last type found not to be `Injectable`.
  private let plainType = Atomic(0)

  init(_ recipe: Recipe, in owner: Container, for site: Container, order: Int, base: Entry?) {
    (self.recipe, self.owner, self.site, self.base) = (recipe, owner, site, base)
    self.order = order
  }

  var label: String { recipe.target.label }
  /// Two entries with the same origin are one object under two keys.
  var origin: Entry { base ?? self }

  // MARK: Under the lock

  enum Shortcut: Sendable { case made(AnyBox), passing(Entry) }

  /// The fast path of a lookup: return the object, or make one for the caller; nil if there is
  /// none.
  var shortcut: Shortcut? {
    if let settled { return .made(settled) }
    if maker != nil { return nil }
    if let current { return .made(current) }
    if recipe.scope == .transient, recipe.make != nil { return .passing(self) }
    guard let base, base.maker == nil else { return nil }
    return base.converted[ObjectIdentifier(self)].map { .made($0) }
  }

  private func settle() {
    let object = given ?? made
    settled = maker == nil && object?.lasts == true ? object : nil
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

  /// Copies the object of `set`. Only for a new entry that no other thread knows.
  func adopt(_ other: Entry) { given = other.state().given }

  /// Returns the object and makes it if necessary; nil if there is no recipe and it is not set.
  func read(for asker: Container, new: Bool = false) throws -> AnyBox? {
    let passes = new || recipe.scope == .transient
    var detours = Detours()
    while true {
      switch claim(new: new, mayMake: !passes && recipe.make != nil) {
      case .made(let made): return made
      case .claimed(let frame):
        let made = Result { try construct(frame) }
        do {
          if try conclude(frame, made.flatMap(kept)) { return try made.get() }
        } catch {
          try detours.take(error, at: frame)
        }
      case .busy(let frame):
        let mayWait = frame.role == .setting || recipe.makeLater == nil
        guard let waiter = try frame.join(mayWait: mayWait) else { throw notReady }
        if let early = waiter.wait() { return early }
      case .unavailable:
        if let base { return try base.read(for: asker, new: new).map(convert) }
        return recipe.isGiven ? nil : try makeUnshared(for: asker)
      }
    }
  }

  /// Makes a singleton if necessary, also by an asynchronous recipe.
  func prepare() async throws {
    var detours = Detours()
    while true {
      switch claim(mayMake: recipe.make != nil || recipe.makeLater != nil) {
      case .made, .unavailable: return
      case .claimed(let frame):
        let made = await constructLater(frame)
        do {
          if try conclude(frame, made.flatMap(kept)) { return }
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
    return owner.locked { _ in
      if let made = current { return .made(made) }
      if let maker { return .busy(maker) }
      maker = frame
      return .claimed(frame)
    }
  }

  private func convert(_ made: AnyBox) -> AnyBox {
    guard let base, let convert = recipe.convert else { return made }
    let new = convert(made)
    return owner.locked { _ in
      let isMade = base.made === made && base.given?.lasts != true
      guard base.given === made || isMade, made.lasts else { return new }
      let known = base.converted[ObjectIdentifier(self)] ?? new
      base.converted[ObjectIdentifier(self)] = known
      return known
    }
  }

  private var notReady: InjectionError {
    InjectionError(
      code: .notReady, path: Frame.path(to: recipe.target),
      pending: InjectionError.Pending(entry: self, container: site),
      cure: "Await `container.start()` first, or ask with `await container.resolve()`.")
  }
}

// MARK: - Making

extension Entry {
  /// Wires and publishes an object from outside; nil removes it.
  ///
  /// Takes the claim from a construction, whose object is then discarded, but waits for another
  /// `set`.
  func set(_ new: AnyBox?, weakly: Bool) throws {
    guard let new else { return forgetting { given = nil } }
    let value = weakly ? try weakened(new) : new
    let frame = Frame(.setting, self, site)
    let other = { [self] in
      owner.locked { _ in
        defer { if maker?.role != .setting { maker = frame } }
        return maker
      }
    }
    var previous = other()
    while let setting = previous, setting.role == .setting {
      if try setting.join()?.wait() != nil { throw InjectionError.circular([label, label]) }
      previous = other()
    }
    defer { previous?.dismissWaiters() }
    let wired = Result { try Frame.$current.withValue(frame) { try wire(new, frame) } }
    _ = try conclude(frame, wired.map { value })
  }

  /// Makes an object without keeping it.
  ///
  /// - Throws: `circular` for a recipe that depends on itself, which would recurse without end.
  func makeUnshared(for asker: Container) throws -> AnyBox {
    var detours = Detours()
    while true {
      let frame = Frame(.passing, self, asker)
      let made = Result {
        defer { frame.close() }
        try refuseRecursion(frame)
        return try construct(frame)
      }
      do { return try made.get() } catch { try detours.take(error, at: frame) }
    }
  }

  private func refuseRecursion(_ frame: Frame) throws(InjectionError) {
    let chain = frame.caller?.chain ?? []
    let own = chain.indices.filter { chain[$0].entry === self && !chain[$0].isOver }
    if let outer = own.first(where: { chain[$0].container === frame.container }) {
      throw Frame.circular(chain[...outer].reversed())
    }
    // With other arguments the recursion may end, as for a tree; limit it before the stack does.
    if let outer = own.dropFirst(Self.maximumDepth).first {
      throw .circular(chain[...outer].reversed().compactMap(\.entry?.label) + [label])
    }
  }

  /// The limit of a recipe's recursion with a new container each time.
  private static let maximumDepth = 30

  private func construct(_ frame: Frame) throws -> AnyBox {
    guard let make = recipe.make else { throw notReady }
    return try Frame.$current.withValue(frame) {
      let made = try make(frame.container)
      try wire(made, frame)
      return made
    }
  }

  private func constructLater(_ frame: Frame) async -> Result<AnyBox, any Error> {
    guard let make = recipe.makeLater else { return Result { try construct(frame) } }
    return await Frame.$current.withValue(frame) {
      do {
        let made = try await make(frame.container)
        try wire(made, frame)
        return .success(made)
      } catch {
        return .failure(error)
      }
    }
  }

  private func wire(_ made: AnyBox, _ frame: Frame) throws {
    if frame.role != .passing { frame.publish(early: made) }
    let injectable = injectable(made.content, isSet: frame.role == .setting)
    if let injectable { try frame.container.fill(injectable) }
    try recipe.then?(made, frame.container)
    injectable?.didInject()
  }

  /// Caches the negative result, because the conformance lookup costs more than everything else
  /// here. Does not cache it for `set`: the object may conform only on an actor.
  private func injectable(_ content: Any, isSet: Bool) -> (any Injectable)? {
    let type = type(of: content)
    let id = Int(bitPattern: ObjectIdentifier(type))
    if !isSet, plainType.load(ordering: .relaxed) == id { return nil }
    if type is any Injectable.Type { return content as? any Injectable }
    if !isSet { plainType.store(id, ordering: .relaxed) }
    return nil
  }

  private func kept(_ made: AnyBox) -> Result<AnyBox?, any Error> {
    Result { recipe.scope == .weak ? try weakened(made) : made }
  }

  private func weakened(_ made: AnyBox) throws -> AnyBox {
    if let weakly = made.weakly { return weakly }
    throw InjectionError.notAClass(recipe.target)
  }

  /// Ends a construction: publishes the object, or releases the claim after a failure.
  ///
  /// - Returns: false if a `set` has taken the claim.
  private func conclude(_ frame: Frame, _ result: Result<AnyBox?, any Error>) throws -> Bool {
    let isKept = forgetting { () -> Bool in
      guard maker === frame else { return false }
      maker = nil
      guard case .success(let new) = result, !frame.isInvalid else { return false }
      if frame.role == .setting { given = new } else { (given, made) = (nil, new) }
      return true
    }
    frame.end(failed: !isKept)
    _ = try result.get()
    return isKept
  }

  /// Discards an object that refers to one whose construction failed.
  func drop() { forgetting { made = nil } }

  /// Changes the objects under the lock and releases the old ones after it.
  private func forgetting<R: Sendable>(_ change: () -> R) -> R {
    let (result, old) = owner.locked { _ in
      let old = (given, made, converted)
      let result = change()
      if given !== old.0 || made !== old.1 { converted = [:] }
      return (result, old)
    }
    return withExtendedLifetime(old) { result }
  }
}
