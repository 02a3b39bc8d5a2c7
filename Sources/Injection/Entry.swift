// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

// How an object is made: whoever claims the entry (`maker`) runs the recipe with no lock held,
// wires the object (@Injected properties, `then:`, didInject), and only then publishes it. Others
// wait for this entry alone. While it is wired, the object is shown as `early` to those whose
// waiting would close a loop. A failed construction releases the claim, and those who waited try
// for themselves. A `set` takes a claim over; the maker drops its own object.
//
// No foreign code runs under the lock, not even a deinit: what is replaced leaves it first.

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
  /// What this is another key of.
  let base: Entry?
  /// The place among the registrations of the owner; the base's for an alias.
  let order: Int
  var kept: AnyBox?
  var isSet = false
  private var maker: Claim?
  private var early: AnyBox?
  /// The last type that was found not to be `Injectable`.
  private let plainType = Atomic(0)

  private struct Claim: Sendable {
    let frame: Frame
    let end = DispatchGroup()
    init(_ frame: Frame) { self.frame = frame; end.enter() }
  }

  init(_ recipe: Recipe, in owner: Container, order: Int, base: Entry? = nil) {
    (self.recipe, self.owner, self.order, self.base) = (recipe, owner, order, base)
  }

  var label: String { recipe.target.label }
  /// Two entries with the same origin are one object under two keys.
  var origin: Entry { base ?? self }

  /// The object, made now if need be; nil when it comes from outside and is not there.
  func read(for asker: Container, anew: Bool = false) throws -> AnyBox? {
    if let base { return try base.read(for: asker, anew: anew).map { recipe.convert?($0) ?? $0 } }
    let passes = anew || recipe.scope == .transient
    let frame = Frame(self, passes ? asker : owner)
    while true {
      let (made, claim) = claim(frame, anew: anew, mayMake: !passes && recipe.make != nil)
      if let made { return made }
      if passes { return try pass(frame) }
      guard let claim else { return try recipe.isGiven ? nil : construct(frame) }
      if claim.frame === frame {
        defer { release(claim) }
        let made = try construct(frame)
        if try publish(made, frame) { return made }
      } else {
        if let early = try begin(frame, waitingFor: claim.frame) { return early }
        defer { Waits.end(frame) }
        if recipe.makeLater != nil { throw notReady }
        claim.end.wait()
      }
    }
  }

  /// As `read`, for a singleton; runs an asynchronous recipe.
  func prepare() async throws {
    let frame = Frame(self, owner)
    while true {
      let (made, claim) = claim(frame, mayMake: !recipe.isGiven)
      guard made == nil, let claim else { return }
      if claim.frame === frame {
        defer { release(claim) }
        let made = try await Frame.$current.withValue(frame) {
          guard let made = try await recipe.makeLater?(owner) else { return try construct(frame) }
          try wire(made, frame)
          return made
        }
        if try publish(made, frame) { return }
      } else {
        if try begin(frame, waitingFor: claim.frame) != nil { return }
        defer { Waits.end(frame) }
        await withCheckedContinuation { waiter in
          claim.end.notify(queue: .global()) { waiter.resume() }
        }
      }
    }
  }

  /// Puts a value from outside in place, wired, for everybody; nil takes away what is there.
  func set(_ new: AnyBox?, weakly: Bool) throws {
    let value = weakly ? try new.map(weakened) : new
    let claim = Claim(Frame(self, owner))
    let old = owner.locked { state in
      defer { (maker, early, kept, isSet) = (claim, nil, nil, false) }
      return (kept: kept, isSet: isSet, early: early, found: state.change())
    }
    var next = (old.kept, old.isSet)
    defer { release(claim) { (kept, isSet) = next } }
    if let new { try Frame.$current.withValue(claim.frame) { try wire(new, claim.frame) } }
    next = (value, new != nil)
  }
}

// MARK: - The steps

extension Entry {
  /// The object, or who makes it; claims the entry for `frame` if nobody does and it may.
  private func claim(
    _ frame: Frame, anew: Bool = false, mayMake: Bool
  ) -> (made: AnyBox?, Claim?) {
    owner.locked { _ in
      if !anew, let made = kept?.current { return (made, nil) }
      if maker == nil, mayMake { maker = Claim(frame) }
      return (nil, maker)
    }
  }

  /// Makes an object that is not kept; a recipe that comes back to itself would never end.
  func pass(_ frame: Frame) throws -> AnyBox {
    var depth = 0
    let outer = frame.caller?.first {
      guard $0.entry === self else { return false }
      depth += 1
      // With other arguments it may come to its end, as a tree does; the stack must not come first.
      return $0.container === frame.container || depth == Self.maximumDepth
    }
    if let outer { throw InjectionError.circular(frame.path(from: outer)) }
    return try construct(frame)
  }

  /// How often a recipe may be under way within itself, each time in a container of its own.
  private static let maximumDepth = 100

  private func construct(_ frame: Frame) throws -> AnyBox {
    guard let make = recipe.make else {
      throw recipe.isGiven ? owner.missing(recipe.target) : notReady
    }
    return try Frame.$current.withValue(frame) {
      let made = try make(frame.container)
      try wire(made, frame)
      return made
    }
  }

  private func wire(_ made: AnyBox, _ frame: Frame) throws {
    if recipe.scope != .transient {
      owner.locked { _ in if maker?.frame === frame { early = made } }
    }
    let injectable = injectable(made.content)
    if let injectable { try frame.container.fill(injectable) }
    try recipe.then?(made, frame.container)
    injectable?.didInject()
  }

  /// A conformance is looked up once for each type: it costs more than all else here.
  private func injectable(_ content: Any) -> (any Injectable)? {
    let type = type(of: content)
    let id = Int(bitPattern: ObjectIdentifier(type))
    if plainType.load(ordering: .relaxed) == id { return nil }
    if type is any Injectable.Type { return content as? any Injectable }
    plainType.store(id, ordering: .relaxed)
    return nil
  }

  /// False: a `set` took the claim over.
  private func publish(_ made: AnyBox, _ frame: Frame) throws -> Bool {
    let value = recipe.scope == .weak ? try weakened(made) : made
    return owner.locked { _ in
      if maker?.frame === frame { kept = value }
      return maker?.frame === frame
    }
  }

  private func weakened(_ made: AnyBox) throws -> AnyBox {
    if let weakly = made.weakly { return weakly }
    throw InjectionError(
      code: .notAClass, path: Frame.path(to: recipe.target),
      cure: "Use another scope, or set it without `weak`.")
  }

  private func release(_ claim: Claim, _ change: () -> Void = {}) {
    let early = owner.locked { _ -> AnyBox? in
      guard maker?.frame === claim.frame else { return nil }
      defer { (maker, self.early) = (nil, nil) }
      change()
      return self.early
    }
    withExtendedLifetime(early) { claim.end.leave() }
  }

  /// Nil: `frame` may wait. If that closed a loop, the early object or an error ends it.
  private func begin(_ frame: Frame, waitingFor maker: Frame) throws -> AnyBox? {
    guard let loop = Waits.begin(frame, for: maker) else { return nil }
    let early = owner.locked { _ in self.maker?.frame === maker ? self.early : nil }
    if let early { return early }
    throw InjectionError.circular(loop)
  }

  private var notReady: InjectionError {
    InjectionError(
      code: .notReady, path: Frame.path(to: recipe.target), pending: (self, owner),
      cure: "Await `container.start()` first, or ask with `await container.resolve()`.")
  }
}
