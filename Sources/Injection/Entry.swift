// SPDX-License-Identifier: Apache-2.0

import Synchronization

// One registration, and how its object is made: the place is claimed, the factory runs with no lock
// held, the object is wired (@Injected properties, `then:`, didInject), and only then published. A
// failed construction releases the place, and those who waited try for themselves, so that nobody's
// result depends on who came first.

@usableFromInline
final class Entry: Sendable {
  enum Recipe: Sendable {
    case now(@Sendable (Container) throws -> AnyBox)
    case later(@Sendable (Container) async throws -> AnyBox)
    /// From outside, by `set`.
    case given
    /// Another entry under another key. `up` is written by the caller, so the compiler checks it.
    case alias(Entry, up: @Sendable (AnyBox) -> AnyBox)
  }

  typealias Completion = @Sendable (AnyBox, Container) throws -> Void

  let target: Target
  let recipe: Recipe
  let scope: Container.Scope
  let isPrimary: Bool
  /// What the recipe says it will ask for.
  let needs: [Target]
  let order: Int
  /// Boxes an object that was kept weakly.
  private let box: @Sendable (AnyObject) -> AnyBox?
  private let then: Completion?

  private let place = Place()
  private let view = Published<View>()

  /// What an alias made of a box, so that it is converted once.
  private final class View: Sendable {
    let from, to: AnyBox
    init(_ from: AnyBox, _ to: AnyBox) { (self.from, self.to) = (from, to) }
  }

  init(
    _ target: Target, _ recipe: Recipe, scope: Container.Scope = .singleton, primary: Bool = false,
    needs: [Target] = [], order: Int = nextOrder(),
    box: @escaping @Sendable (AnyObject) -> AnyBox?, then: Completion? = nil
  ) {
    (self.target, self.recipe, self.scope, isPrimary) = (target, recipe, scope, primary)
    (self.needs, self.order, self.box, self.then) = (needs, order, box, then)
  }

  /// An entry for the type of `key`.
  convenience init<T>(
    _ key: Container.Key<T>, _ recipe: Recipe, scope: Container.Scope = .singleton,
    primary: Bool = false, needs: [Target] = [], order: Int = nextOrder(),
    then: (@Sendable (T, Container) throws -> Void)? = nil
  ) {
    let completion: Completion? =
      if let then { { try then($0.open(as: T.self), $1) } } else { nil }
    self.init(
      key.target, recipe, scope: scope, primary: primary, needs: needs, order: order,
      box: { object in (object as? T).map { Box($0) } }, then: completion)
  }

  /// The same registration with nothing made; itself when its value comes from outside.
  func renewed(_ renewedBase: (Entry) -> Entry) -> Entry {
    var recipe = recipe
    switch recipe {
    case .given: return self
    case .alias(let base, let up): recipe = .alias(renewedBase(base), up: up)
    default: if place.status.isSet { return self }
    }
    return Entry(
      target, recipe, scope: scope, primary: isPrimary, needs: needs, order: order, box: box,
      then: then)
  }
}

private let orders = Atomic(0)

private func nextOrder() -> Int { orders.add(1, ordering: .relaxed).newValue }

// MARK: - Reading

extension Entry {
  /// The object, made now if need be; nil when it comes from outside and is not there.
  func read(_ owner: Container, _ asker: Container, anew: Bool = false) throws -> AnyBox? {
    if !anew, let made = current { return made }
    if case .alias(let base, let up) = recipe {
      return try base.read(owner, asker, anew: anew).map { convert($0, base, up) }
    }
    if anew || scope == .transient { return try construct(pass(asker)) }
    let frame = Frame(self, owner)
    while true {
      switch try place.claim(for: frame, mayMake: isPlain) {
      case .value(let box): return box
      case .mine:
        if let box = try settle(frame, Result { try construct(frame) }) { return box }
      case .theirs where isAsync, .nothing where isAsync: throw unable(owner)
      case .nothing: return nil
      case .theirs(let maker):
        if let early = try place.beginWait(for: maker) { return early }
        blockThread { place.whenReleased(by: maker, $0) }
        place.endWait(for: maker)
      }
    }
  }

  /// As `read`, for callers that can wait for an asynchronous recipe.
  func resolve(_ owner: Container, _ asker: Container) async throws -> AnyBox? {
    if let made = current { return made }
    if case .alias(let base, let up) = recipe {
      return try await base.resolve(owner, asker).map { convert($0, base, up) }
    }
    if scope == .transient { return try await constructLater(pass(asker)).get() }
    let frame = Frame(self, owner)
    while true {
      switch try place.claim(for: frame, mayMake: isPlain || isAsync) {
      case .value(let box): return box
      case .mine:
        if let box = try settle(frame, await constructLater(frame)) { return box }
      case .nothing: return nil
      case .theirs(let maker):
        if let early = try place.beginWait(for: maker) { return early }
        await withCheckedContinuation { wake in place.whenReleased(by: maker) { wake.resume() } }
        place.endWait(for: maker)
      }
    }
  }

  /// Puts a value from outside in place, wired, for everybody; nil takes away what is there.
  func set(_ box: AnyBox?, weakly: Bool, in owner: Container) throws {
    let kept = try box.map { try keep($0, weakly: weakly) }
    let frame = Frame(self, owner)
    place.overtake(by: frame)
    do {
      if let box { try Frame.$current.withValue(frame) { try wire(box, frame) } }
    } catch {
      place.release(frame)
      throw error
    }
    place.release(frame) { state in
      (state.kept, state.isSet) = (kept, box != nil)
      place.made.withdraw()
    }
  }

  /// What a made singleton holds, or an alias of one that was read before; no lock is taken.
  var current: AnyBox? {
    guard case .alias(let base, _) = recipe else { return place.made.value }
    return view.read { view in base.place.made.read { $0 === view.from } == true ? view.to : nil }
  }

  private func convert(
    _ box: AnyBox, _ base: Entry, _ up: @Sendable (AnyBox) -> AnyBox
  ) -> AnyBox {
    let converted = up(box)
    if base.place.made.value === box { view.publish(View(box, converted)) }
    return converted
  }
}

// MARK: - Making

extension Entry {
  /// A frame for an object that is not kept. A recipe that comes back to itself would never end.
  private func pass(_ asker: Container) throws -> Frame {
    let frame = Frame(self, asker)
    if let outer = frame.caller?.first(where: { $0.entry === self && $0.container === asker }) {
      throw InjectionError.circular(frame.path(from: outer))
    }
    return frame
  }

  private func construct(_ frame: Frame) throws -> AnyBox {
    guard case .now(let make) = recipe else { throw unable(frame.container) }
    return try Frame.$current.withValue(frame) {
      let box = try make(frame.container)
      try wire(box, frame)
      return box
    }
  }

  private func constructLater(_ frame: Frame) async -> Result<AnyBox, any Error> {
    guard case .later(let make) = recipe else { return Result { try construct(frame) } }
    return await Frame.$current.withValue(frame) {
      do {
        let box = try await make(frame.container)
        try wire(box, frame)
        return .success(box)
      } catch {
        return .failure(error)
      }
    }
  }

  private func wire(_ box: AnyBox, _ frame: Frame) throws {
    if scope != .transient { place.show(box, by: frame) }
    let injectable = box.injectable
    if let injectable { try frame.container.fill(injectable) }
    try then?(box, frame.container)
    injectable?.didInject()
  }

  /// Publishes what a construction came to. Nil: a `set` overtook it.
  private func settle(_ frame: Frame, _ result: Result<AnyBox, any Error>) throws -> AnyBox? {
    do {
      let box = try result.get()
      let kept = try keep(box, weakly: scope == .weak)
      let isPublished = place.release(frame) { state in
        state.kept = kept
        if scope == .singleton { place.made.publish(box) }
      }
      return isPublished ? box : nil
    } catch {
      place.release(frame)
      throw error
    }
  }

  private func keep(_ box: AnyBox, weakly: Bool) throws -> Kept {
    guard weakly else { return .strong(box) }
    guard let object = box.object else {
      throw InjectionError(.notAClass, target, cure: "Register it as a singleton or transient.")
    }
    return .weak(WeakReference(object: object), box: self.box)
  }

  /// Why no object can be made here and now.
  private func unable(_ owner: Container) -> InjectionError {
    if case .given = recipe {
      return InjectionError(.missing, target, cure: "Only `set` provides it: register a recipe.")
    }
    guard scope == .singleton else {
      return InjectionError(.notReady, target, cure: "Use `resolve()`.")
    }
    return InjectionError(.notReady, target, cure: "Call `start()` first or use `resolve()`.") {
      _ = try await self.resolve(owner, owner)
    }
  }
}

// MARK: - Description

extension Entry {
  /// The entry behind an alias.
  var base: Entry? {
    if case .alias(let base, _) = recipe { return base }
    return nil
  }

  private var isPlain: Bool {
    if case .now = recipe { return true }
    return false
  }

  var isAsync: Bool {
    if case .later = recipe { return true }
    return false
  }

  var label: String { target.label }

  var status: String {
    let (isThere, isSet) = place.status
    if case .given = recipe { return isThere ? "external, set" : "external, not set" }
    return scope.rawValue + (isSet ? ", set" : isThere ? ", made" : "")
      + (isPrimary ? ", primary" : "") + (isAsync ? ", async" : "")
  }
}
