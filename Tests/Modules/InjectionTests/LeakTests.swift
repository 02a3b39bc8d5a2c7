// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection
import Synchronization
import Testing

/// What must not keep a container, and with it all its objects.
@Suite(.timeLimit(hang)) struct LeakTests {
  private static let scopes = [Container.Scope.singleton, .transient]

  @Test(arguments: scopes)
  func aTaskThatARecipeStartedDoesNotKeepTheContainer(scope: Container.Scope) async throws {
    weak var gone: Container?
    let end = Latch()
    let task = Mutex<Task<Void, Never>?>(nil)
    do {
      let container = Container { c in
        c.register(scope: scope) { _ -> RealAPI in
          task.withLock { $0 = Task { await end.yieldUntilOpen() } }
          return RealAPI()
        }
      }
      gone = container
      _ = try container.get(Container.Key<RealAPI>())
    }
    #expect(gone == nil)
    end.open()
    await task.withLock { $0 }?.value
  }

  @Test(arguments: scopes)
  func aTaskThatARecipeStartedSeesItsContainerAsLongAsThereIsOne(
    scope: Container.Scope
  ) async throws {
    let (isMade, isSeen, isGone) = (Latch(), Latch(), Latch())
    let task = Mutex<Task<[Bool], Never>?>(nil)
    weak var gone: Container?
    do {
      let container = Container { c in
        c.register(scope: scope) { c -> RealAPI in
          let identity = ObjectIdentifier(c)
          task.withLock {
            $0 = Task {
              await isMade.yieldUntilOpen()
              let before = ObjectIdentifier(Container.current) == identity
              isSeen.open()
              await isGone.yieldUntilOpen()
              return [before, Container.current === Container.main]
            }
          }
          return RealAPI()
        }
      }
      gone = container
      _ = try container.get(Container.Key<RealAPI>())
      isMade.open()
      await isSeen.yieldUntilOpen()
      withExtendedLifetime(container) {}
    }
    #expect(gone == nil)
    isGone.open()
    #expect(await task.withLock { $0 }?.value == [true, false])
  }

  @Test func aKeyThatWasOnlySetIsForgottenWithItsObject() throws {
    let container = Container()
    let empty = container.description
    for number in 1...3 {
      let key = Container.Key<String>("session \(number)")
      try container.set("Ada", for: key)
      try container.set("Bob", for: key)
      try container.set(nil, for: key)
    }
    // Sendable: used by one thread.
    final class Incomplete: Injectable, @unchecked Sendable {
      @Injected var api: RealAPI
      func didInject() {}
    }
    #expect(injectionError { try container.set(Incomplete()) }?.code == .missing)
    #expect(container.description == empty)
    try container.set(nil, for: Container.Key<String>("declared"))
    try container.set("Ada", for: Container.Key("declared"))
    try container.set(nil, for: Container.Key<String>("declared"))
    #expect(container.description == "String \"declared\": external, not set")
  }

  /// Registers recipes of which one lookup fails, and returns its error.
  typealias Failing = @Sendable (Container) async -> InjectionError?

  private static let failing: [Failing] = [
    { c in injectionError { _ = try c.get(Container.Key<String>()) } },
    { c in
      c.register { _ async in RealAPI() }
      return injectionError { _ = try c.get(Container.Key<RealAPI>()) }
    },
    { c in
      c.register { _ async in RealAPI() }
      c.register { c in "\(try c.get(Container.Key<RealAPI>()))" }
      return injectionError { _ = try c.get(Container.Key<String>()) }
    },
    { c in
      c.register { c in "\(try c.get(Container.Key<Int>()))" }
      c.register { c in try c.get(Container.Key<String>()).count }
      return injectionError { _ = try c.get(Container.Key<Int>()) }
    },
    { c in
      let inner = Mutex<InjectionError?>(nil)
      c.register { c in Other(try c.get(Container.Key<Node>())) }
      c.register(make: { _ in Node() }) { _, c in
        do { _ = try c.get(Container.Key<Other>()) } catch let error as InjectionError {
          inner.withLock { $0 = $0 ?? error }
          throw error
        }
      }
      #expect(throws: Never.self) { try c.get(Container.Key<Other>()) }
      return inner.withLock { $0 }
    },
    { c in
      c.register { c async throws in try await c.resolve(Container.Key<Int>()).description }
      c.register { c async throws in try await c.resolve(Container.Key<String>()).count }
      return await injectionError { _ = try await c.resolve(Container.Key<Int>()) }
    },
    { c in
      c.register(using: Shop.init)
      return await injectionError { try await c.start() }
    },
  ]

  @Test(arguments: failing.indices)
  func anErrorDoesNotKeepTheContainer(index: Int) async {
    weak var gone: Container?
    let error: InjectionError?
    do {
      let container = Container()
      gone = container
      error = await Self.failing[index](container)
    }
    #expect(gone == nil)
    #expect(error != nil)
  }

  @Test func aTaskStartedWhileAContainerIsCurrentKeepsIt() async throws {
    let end = Latch()
    let task = Container { $0.register { _ in "kept" } }.asCurrent {
      Task {
        await end.yieldUntilOpen()
        return try Container.current.get(Container.Key<String>())
      }
    }
    end.open()
    #expect(try await task.value == "kept")
  }
}
