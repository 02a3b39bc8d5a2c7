// SPDX-License-Identifier: Apache-2.0

import Synchronization

// How an object is made: whoever claims the entry (`maker`) runs the recipe with no lock held,
// wires the object (@Injected properties, `then:`, didInject), and only then publishes it. Others
// wait for this entry alone. A failed construction releases the claim, and those who waited try for
// themselves. `set` claims in the same way; it takes the claim from a maker, who drops its object.
//
// No foreign code runs under a lock, not even a deinit: what is replaced leaves it first.

/// What was registered.
@usableFromInline
struct Recipe: Sendable {
  var target: Target
  var scope = Container.Scope.singleton
  var isPrimary = false
  /// What it says it will ask for.
  var needs: [Target] = []
  var then: (@Sendable (AnyBox, Container) throws -> Void)?
  var makeLater: (@Sendable (Container) async throws -> AnyBox)?
  var make: (@Sendable (Container) throws -> AnyBox)?
  /// Makes of the object of another entry what this key asks for.
  var convert: (@Sendable (AnyBox) -> AnyBox)?

  /// Made by nobody here: it comes from outside, by `set`.
  var isGiven: Bool { make == nil && makeLater == nil && convert == nil }
}

/// A registration in one container, and its object.
// Sendable: what can change is read and written under the lock of its owner.
@usableFromInline
final class Entry: @unchecked Sendable {
  let recipe: Recipe
  unowned let owner: Container
  /// Whom the recipe asks: the owner, or a fresh child for which this is a copy.
  unowned let site: Container
  /// What this is another key of.
  let base: Entry?
  /// The place among the registrations of the owner; the base's for an alias.
  let order: Int
  private var made: AnyBox?
  /// What came from outside, in place of `made`.
  private var given: AnyBox?
  /// What aliases made of the object, by the alias.
  private var converted: [ObjectIdentifier: AnyBox] = [:]
  private var maker: Frame?
  /// The last type that was found not to be `Injectable`.
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

  /// What is left to do, when it is to hand out the object or to make one for the asker.
  var shortcut: Shortcut? {
    if maker != nil { return nil }
    if let current { return .made(current) }
    if recipe.scope == .transient, recipe.make != nil { return .passing(self) }
    guard let base, base.maker == nil else { return nil }
    return base.converted[ObjectIdentifier(self)].map { .made($0) }
  }

  private var current: AnyBox? { given?.current ?? made?.current }

  // MARK: Reading

  /// What is kept, where it is still there.
  ///
  /// Asked outside the lock: this may be the last who keeps it.
  func state() -> (given: AnyBox?, made: AnyBox?) {
    let (given, made) = owner.locked { _ in (self.given, self.made) }
    return (given?.current == nil ? nil : given, made?.current == nil ? nil : made)
  }

  /// Takes over what came from outside; before anybody else knows this entry.
  func adopt(_ other: Entry) { given = other.state().given }

  /// The object, made now if need be; nil when it comes from outside and is not there.
  func read(for asker: Container, anew: Bool = false) throws -> AnyBox? {
    let passes = anew || recipe.scope == .transient
    while true {
      switch claim(anew: anew, mayMake: !passes && recipe.make != nil) {
      case .made(let made): return made
      case .mine(let frame):
        let made = Result { try construct(frame) }
        if try conclude(frame, made.flatMap(keepable)) { return try made.get() }
      case .others(let frame):
        let mayWait = frame.role == .setting || recipe.makeLater == nil
        guard let waiter = try frame.join(mayWait: mayWait) else { throw notReady }
        if let early = waiter.wait() { return early }
      case .nobodys:
        if let base { return try base.read(for: asker, anew: anew).map(convert) }
        return recipe.isGiven ? nil : try pass(asker)
      }
    }
  }

  /// As `read`, for a singleton; runs an asynchronous recipe.
  func prepare() async throws {
    while true {
      switch claim(mayMake: recipe.make != nil || recipe.makeLater != nil) {
      case .made, .nobodys: return
      case .mine(let frame):
        let made = await constructLater(frame)
        if try conclude(frame, made.flatMap(keepable)) { return }
      case .others(let frame):
        if try await frame.join()?.suspend() != nil { return }
      }
    }
  }

  private enum Claim {
    case made(AnyBox), mine(Frame), others(Frame), nobodys
  }

  private func claim(anew: Bool = false, mayMake: Bool) -> Claim {
    let (made, other) = owner.locked { _ in (anew ? nil : current, anew ? nil : maker) }
    // While a value is replaced the old one is in force, except for what the new one asks for.
    if let made, other.map({ Frame.live?.isWithin($0) ?? false }) != true { return .made(made) }
    if let other { return .others(other) }
    guard mayMake else { return .nobodys }
    let frame = Frame(.making, self, site)
    return owner.locked { _ in
      if let made = current { return .made(made) }
      if let maker { return .others(maker) }
      maker = frame
      return .mine(frame)
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
      code: .notReady, path: Frame.path(to: recipe.target), pending: (self, site),
      cure: "Await `container.start()` first, or ask with `await container.resolve()`.")
  }
}

// MARK: - Making

extension Entry {
  /// Puts a value from outside in place, wired, for everybody; nil takes it away again.
  ///
  /// Takes the claim from a maker, whose object will not be used, but waits for another `set`.
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

  /// Makes an object that is not kept; a recipe that comes back to itself would never end.
  func pass(_ asker: Container) throws -> AnyBox {
    let frame = Frame(.passing, self, asker)
    defer { frame.close() }
    if let chain = frame.caller?.chain {
      // With other arguments it may come to its end, as a tree does; the stack must not come first.
      let own = chain.indices.filter { chain[$0].entry === self && !chain[$0].isOver }
      if let outer = own.first(where: { chain[$0].container === asker })
        ?? own.dropFirst(Self.maximumDepth).first
      {
        let path = chain[...outer].reversed().compactMap(\.entry?.label)
        throw InjectionError.circular(path + [label])
      }
    }
    return try construct(frame)
  }

  /// How often a recipe may be under way within itself, each time in a container of its own.
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
    do {
      return .success(
        try await Frame.$current.withValue(frame) {
          let made = try await make(frame.container)
          try wire(made, frame)
          return made
        })
    } catch {
      return .failure(error)
    }
  }

  private func wire(_ made: AnyBox, _ frame: Frame) throws {
    if frame.role != .passing { frame.show(made) }
    let injectable = injectable(made.content, isSet: frame.role == .setting)
    if let injectable { try frame.container.fill(injectable) }
    try recipe.then?(made, frame.container)
    injectable?.didInject()
  }

  /// A conformance is looked up once for each type: it costs more than all else here. Not for what
  /// comes from outside: it may conform on one actor only.
  private func injectable(_ content: Any, isSet: Bool) -> (any Injectable)? {
    let type = type(of: content)
    let id = Int(bitPattern: ObjectIdentifier(type))
    if !isSet, plainType.load(ordering: .relaxed) == id { return nil }
    if type is any Injectable.Type { return content as? any Injectable }
    if !isSet { plainType.store(id, ordering: .relaxed) }
    return nil
  }

  private func keepable(_ made: AnyBox) -> Result<AnyBox?, any Error> {
    Result { recipe.scope == .weak ? try weakened(made) : made }
  }

  private func weakened(_ made: AnyBox) throws -> AnyBox {
    if let weakly = made.weakly { return weakly }
    throw InjectionError.notAClass(recipe.target)
  }

  /// Ends a construction: publishes what it came to, or releases the claim.
  ///
  /// False: a `set` had taken it.
  private func conclude(_ frame: Frame, _ result: Result<AnyBox?, any Error>) throws -> Bool {
    let isKept = forgetting { () -> Bool in
      guard maker === frame else { return false }
      maker = nil
      guard case .success(let new) = result, !frame.hasFallen else { return false }
      if frame.role == .setting { given = new } else { (given, made) = (nil, new) }
      return true
    }
    frame.end(failed: !isKept)
    _ = try result.get()
    return isKept
  }

  /// Forgets what was made with an object that never became complete.
  func drop() { forgetting { made = nil } }

  /// Changes what is kept; what was kept is let go outside the lock.
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
