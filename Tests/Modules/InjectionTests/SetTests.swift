// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection
import Synchronization
import Testing

/// `set` beside recipes, parents, and others that set.
@Suite(.timeLimit(hang)) struct SetTests {
  private let container = Container()

  private func api() -> Container {
    Container { $0.register { _ in RealAPI() }.as(APIKey()) { $0 } }
  }

  @Test func aSetThatFailsChangesNothing() throws {
    let container = api()
    container.register(Container.Key<String>("told")) { _ in "recipe" }
    let failing = Told {}
    let child = container.child()
    child.register(
      Container.Key<Told>(), make: { _ in Told {} }, then: { _, _ in throw Failure() })
    #expect(throws: Failure.self) { try child.set(failing) }
    #expect(
      injectionError { try child.set(5, for: Container.Key("n"), weak: true) }?.code == .notAClass)
    #expect(injectionError { try child.set("x", for: Container.Key("told"), weak: true) } != nil)
    #expect(try child.get(Container.Key<String>("told")) == "recipe")
    #expect(try child.find(Container.Key<Int>("n")) == nil)
  }

  @Test func aLookupDuringTheFirstSetWaitsForIt() async throws {
    let (injecting, asked) = (Latch(), Latch())
    let results = await onThreads(2) { index in
      if index == 0 {
        try container.set(
          Told {
            injecting.open()
            asked.wait()
            for _ in 0..<100_000 { _ = Task.isCancelled }  // The other waits now.
          })
      } else {
        injecting.wait()
        asked.open()
        _ = try container.get(Container.Key<Told>())
      }
    }
    for result in results { #expect(throws: Never.self) { try result.get() } }
  }

  @Test func theOldValueIsInForceUntilTheNewOneIsInjected() async throws {
    let (injecting, seen) = (Latch(), Latch())
    let old = Told {}
    let inner = Mutex<Told?>(nil)
    try container.set(old)
    let new = Told {
      inner.withLock { $0 = try? container.get(Container.Key<Told>()) }
      injecting.open()
      seen.wait()
    }
    let results = await onThreads(2) { index -> Told in
      if index == 0 {
        try container.set(new)
        return try container.get(Container.Key<Told>())
      }
      injecting.wait()
      defer { seen.open() }
      return try container.get(Container.Key<Told>())
    }
    #expect(try results[0].get() === new)
    #expect(try results[1].get() === old)
    #expect(inner.withLock { $0 } === new)
  }

  @Test func aSetThatFailsLosesNoOtherSet() async throws {
    let (injecting, finish) = (Latch(), Latch())
    container.register(make: { _ in Told {} }) { told, _ in
      told.didInject()
      throw Failure()
    }
    let plain = Container.Key<RealAPI>()
    try container.set(RealAPI(host: "first"))
    let results = await onThreads(2) { index in
      if index == 0 {
        try container.set(
          Told {
            injecting.open(); finish.wait()
          })
      } else {
        injecting.wait()
        try container.set(RealAPI(host: "second"))
        finish.open()
      }
    }
    #expect(throws: Failure.self) { try results[0].get() }
    #expect(try container.get(plain).host == "second")
  }

  @Test func ofTwoSetsOfOneKeyThatAreInjectedTheLaterOneStays() async throws {
    let (injecting, setting) = (Latch(), Latch())
    let first = Told {
      injecting.open()
      setting.wait()
      for _ in 0..<100_000 { _ = Task.isCancelled }  // The other waits now.
    }
    let second = Told {}
    let results = await onThreads(2) { index in
      if index == 0 { try container.set(first) }
      if index == 1 {
        injecting.wait()
        setting.open()
        try container.set(second)
      }
    }
    for result in results { #expect(throws: Never.self) { try result.get() } }
    #expect(try container.get(Container.Key<Told>()) === second)
  }

  @Test func aSetWithinItsOwnInjectionIsAnError() throws {
    let code = Mutex<InjectionError.Code?>(nil)
    try container.set(
      Told {
        do { try container.set(Told {}) } catch let error as InjectionError {
          code.withLock { $0 = error.code }
        } catch {}
      })
    #expect(code.withLock { $0 } == .circular)
  }

  @Test func whatIsInjectedIntoASetObjectMayAskForIt() throws {
    final class Delegate: Injectable, @unchecked Sendable {  // Sendable: used by one thread.
      @Injected var part: Part
      func didInject() {}
    }
    final class Part: Sendable {
      nonisolated(unsafe) weak var delegate: Delegate?
      init(_ delegate: Delegate) { self.delegate = delegate }
    }
    container.register(using: { (delegate: Delegate) in Part(delegate) })
    let delegate = container.asCurrent { Delegate() }
    try container.set(delegate)
    #expect(delegate.part.delegate === delegate)
    #expect(try container.get(Container.Key<Part>()) === delegate.part)
  }

  @Test func afterAWeaklySetObjectIsGoneAFreshChildMakesItsOwn() throws {
    container.register { _ in RealAPI(host: "recipe") }
    var set: RealAPI? = RealAPI(host: "set")
    try container.set(set, weak: true)
    #expect(try container.child(fresh: true).get(Container.Key<RealAPI>()) === set)
    set = nil
    let made: RealAPI = try container.get()
    #expect(try container.child(fresh: true).get(Container.Key<RealAPI>()) !== made)
    #expect(container.description == "RealAPI: singleton, made")
  }

  @Test func aWeaklySetAliasThatIsGoneGivesTheObjectThatIsSet() throws {
    let container = api()
    try container.set(RealAPI(host: "other"))
    var held: RealAPI? = RealAPI(host: "weak")
    try container.set(held, for: APIKey(), weak: true)
    #expect(try container.get(APIKey()).host == "weak")
    held = nil
    #expect(try container.get(APIKey()).host == "other")
  }
}
