// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

// One registration and, unless it is transient or an alias, the one object made from it.
//
// Creation: a thread claims the entry (`maker`), runs the factory with no lock held, lets the object
// be wired (@Injected properties, `then:`, didInject) and only then publishes it. Others wait for that
// entry alone. A failed construction releases the claim, and those who waited try for themselves, so
// that nobody's result depends on who came first.
//
// - `state` is never locked while foreign code runs, not even a deinit: replaced values leave the lock.
// - `early` is shown only to the constructions that the maker itself started, and to one that would
//   otherwise close a loop with it.
// - `made` is written at most once, before `isMade` first becomes true, and read only when it is true.
// - A `set` takes the claim over; the maker it overtook drops its object and takes the set one.

final class Entry<T>: AnyEntry, @unchecked Sendable {
  // Sendable: all stored properties are constants or locked, except `made`, see above; and a value
  // that is not Sendable is handed out only to the one caller it was made for.
  let name: String?
  let scope: Container.Scope
  let isPrimary: Bool
  let needs: [Need]
  let order: Int
  let recipe: Recipe<T>
  private let then: (@Sendable (T, Container) throws -> Void)?

  private let isMade = Atomic(false)
  private var made: T?
  private let state = Mutex(State())

  private struct State {
    var kept: Kept<T>?
    var maker: Frame?
    var early: Kept<T>?
    var wasMade = false
    var isSet = false
    var waiters: [@Sendable () -> Void] = []
  }

  private enum Step {
    case value(T?), mine(Frame), theirs(Frame)
  }

  init(
    _ key: Container.Key<T>, _ recipe: Recipe<T>, scope: Container.Scope = .singleton,
    primary: Bool = false, needs: [Need] = [], order: Int = nextOrder(),
    then: (@Sendable (T, Container) throws -> Void)? = nil
  ) {
    (name, self.recipe, self.scope, isPrimary) = (key.name, recipe, scope, primary)
    (self.needs, self.order, self.then) = (needs, order, then)
  }
}

// MARK: - Reading

extension Entry {
  /// The object, made now if need be; nil when it comes from outside and is not there.
  func read(_ owner: Container, _ asker: Container, anew: Bool = false) throws -> T? {
    if !anew, isMade.load(ordering: .acquiring) { return made }
    if case .alias(let alias) = recipe { return try alias.read(owner, asker, anew) }
    if anew || scope == .transient { return try construct(pass(asker)) }
    while true {
      switch try step(owner, mayWait: false) {
      case .value(let value): return value
      case .mine(let frame):
        if let value = try settle(frame, Result { try construct(frame) }) { return value }
      case .theirs(let frame):
        if let early = try beginWait(for: frame) { return early }
        let gate = DispatchSemaphore(value: 0)
        whenSettled(frame) { gate.signal() }
        gate.wait()
        endWait(for: frame)
      }
    }
  }

  /// As `read`, for callers that can wait for an asynchronous recipe.
  func resolve(_ owner: Container, _ asker: Container) async throws -> T? {
    if isMade.load(ordering: .acquiring) { return made }
    if case .alias(let alias) = recipe { return try await alias.resolve(owner, asker) }
    if scope == .transient { return try await constructLater(pass(asker)).get() }
    while true {
      switch try step(owner, mayWait: true) {
      case .value(let value): return value
      case .mine(let frame):
        if let value = try settle(frame, await constructLater(frame)) { return value }
      case .theirs(let frame):
        if let early = try beginWait(for: frame) { return early }
        await withCheckedContinuation { wake in whenSettled(frame) { wake.resume() } }
        endWait(for: frame)
      }
    }
  }

  /// Puts a value from outside in place, wired, for everybody; nil takes away what is there.
  func set(_ value: T?, weakly: Bool, in owner: Container) throws {
    let frame = Frame(self, owner)
    let kept = try value.map { try Kept($0, weakly: weakly, label) }
    let overtaken = state.withLock { state in
      defer { (state.maker, state.early) = (frame, nil) }
      return state.early
    }
    defer { withExtendedLifetime(overtaken) {} }
    do {
      if let value { try Frame.$current.withValue(frame) { try wire(value, frame) } }
    } catch {
      release(frame) { _ in }
      throw error
    }
    release(frame) { state in
      (state.kept, state.isSet) = (kept, value != nil)
      isMade.store(false, ordering: .releasing)
    }
  }
}

// MARK: - Making

extension Entry {
  private func step(_ owner: Container, mayWait: Bool) throws -> Step {
    let frame = Frame(self, owner)
    return try state.withLock { state in
      if let maker = state.maker, frame.isInside(maker) {
        if let early = state.early { return .value(early.value) }
        throw InjectionError.circular(frame.path(from: maker))
      }
      if let value = state.kept?.value { return .value(value) }
      if case .given = recipe, state.maker == nil { return .value(nil) }
      if !mayWait, case .later = recipe { throw unable(owner) }
      if let maker = state.maker { return .theirs(maker) }
      state.maker = frame
      return .mine(frame)
    }
  }

  /// A frame for an object that is not kept. A recipe that comes back to itself would never end.
  private func pass(_ asker: Container) throws -> Frame {
    let frame = Frame(self, asker)
    let outer = frame.caller?.first { $0.entry === self && $0.container === asker }
    if let outer { throw InjectionError.circular(frame.path(from: outer)) }
    return frame
  }

  private func construct(_ frame: Frame) throws -> T {
    guard case .now(let make) = recipe else { throw unable(frame.container) }
    return try Frame.$current.withValue(frame) {
      let value = try make(frame.container)
      try wire(value, frame)
      return value
    }
  }

  private func constructLater(_ frame: Frame) async -> Result<T, any Error> {
    guard case .later(let make) = recipe else { return Result { try construct(frame) } }
    return await Frame.$current.withValue(frame) {
      do {
        let value = try await make(frame.container)
        try wire(value, frame)
        return .success(value)
      } catch {
        return .failure(error)
      }
    }
  }

  private func wire(_ value: T, _ frame: Frame) throws {
    if scope != .transient {
      state.withLock { if $0.maker === frame { $0.early = .strong(value) } }
    }
    let injectable = value as? any Injectable
    if let injectable { try frame.container.fill(injectable) }
    try then?(value, frame.container)
    injectable?.didInject()
  }

  /// Publishes what a construction came to. Nil: a `set` overtook it.
  private func settle(_ frame: Frame, _ result: Result<T, any Error>) throws -> T? {
    do {
      let value = try result.get()
      let kept = try Kept(value, weakly: scope == .weak, label)
      let published = release(frame) { state in
        state.kept = kept
        if scope == .singleton, !state.wasMade {
          (made, state.wasMade) = (value, true)
          isMade.store(true, ordering: .releasing)
        }
      }
      return published ? value : nil
    } catch {
      release(frame) { _ in }
      throw error
    }
  }

  /// Ends a claim and wakes everybody who waits. False: the claim had been taken over.
  @discardableResult
  private func release(_ frame: Frame, _ publish: (inout State) -> Void) -> Bool {
    let old: State? = state.withLock { state in
      guard state.maker === frame else { return nil }
      let old = state
      publish(&state)
      (state.maker, state.early, state.waiters) = (nil, nil, [])
      return old
    }
    old?.waiters.forEach { $0() }
    return old != nil
  }

  /// Why no object can be made here and now.
  private func unable(_ owner: Container) -> InjectionError {
    if case .given = recipe {
      return InjectionError(.missing, label, cure: "Only `set` provides it: register a recipe.")
    }
    guard scope == .singleton else {
      return InjectionError(.notReady, label, cure: "Use `resolve()`.")
    }
    return InjectionError(.notReady, label, cure: "Call `start()` first or use `resolve()`.") {
      try await self.prepare(owner)
    }
  }
}

// MARK: - Waiting

extension Entry {
  /// Notes that this thread or task waits for `frame`. If that closed a loop, the early object or an
  /// error ends it.
  private func beginWait(for frame: Frame) throws -> T? {
    guard let waiter = Frame.current, let loop = Waits.begin(waiter, frame) else { return nil }
    let early = state.withLock { $0.maker === frame ? $0.early : nil }
    if let early { return early.value }
    throw InjectionError.circular(loop)
  }

  private func endWait(for frame: Frame) {
    if let waiter = Frame.current { Waits.end(waiter, frame) }
  }

  private func whenSettled(_ frame: Frame, _ wake: @escaping @Sendable () -> Void) {
    let isSettled = state.withLock { state in
      if state.maker === frame { state.waiters.append(wake) }
      return state.maker !== frame
    }
    if isSettled { wake() }
  }
}

// MARK: - Seen without the type

extension Entry {
  var label: String { Container.Key<T>(name).label }

  var base: (any AnyEntry)? {
    if case .alias(let alias) = recipe { return alias.base }
    return nil
  }

  var isAsync: Bool {
    if case .later = recipe { return true }
    return false
  }

  var status: String {
    let (isThere, isSet) = state.withLock { ($0.kept?.value != nil, $0.isSet) }
    if case .given = recipe { return isThere ? "external, set" : "external, not set" }
    return scope.rawValue + (isSet ? ", set" : isThere ? ", made" : "")
  }

  func prepare(_ owner: Container) async throws { _ = try await resolve(owner, owner) }

  func renewed(over base: (any AnyEntry)?) -> any AnyEntry {
    let key = Container.Key<T>(name)
    if case .alias(let alias) = recipe, let base {
      return Entry(key, .alias(alias.renewed(base)), primary: isPrimary, order: order)
    }
    if case .given = recipe { return self }
    if state.withLock({ $0.isSet }) { return self }
    return Entry(
      key, recipe, scope: scope, primary: isPrimary, needs: needs, order: order, then: then)
  }
}

// MARK: - Kept values

/// An object as an entry holds it.
enum Kept<T>: @unchecked Sendable {
  // Sendable: it never leaves the entry's lock but for a caller for whom T is Sendable.
  case strong(T)
  case weak(WeakReference)

  /// - Throws: `InjectionError` with `notAClass`.
  init(_ value: T, weakly: Bool, _ label: String) throws {
    guard weakly else {
      self = .strong(value)
      return
    }
    // Asked of the dynamic type: `as? AnyObject` succeeds for every value, by boxing it.
    guard type(of: value as Any) is AnyClass else {
      throw InjectionError(.notAClass, label, cure: "Register it as a singleton or transient.")
    }
    self = .weak(WeakReference(object: value as AnyObject))
  }

  var value: T? {
    switch self {
    case .strong(let value): return value
    case .weak(let reference):
      // Unwrapped first: the optimiser of Swift 6.3 breaks the cast of a nil reference.
      guard let object = reference.object else { return nil }
      return object as? T
    }
  }
}

struct WeakReference {
  weak var object: AnyObject?
}
