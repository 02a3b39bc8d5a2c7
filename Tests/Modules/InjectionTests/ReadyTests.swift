// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection
import Testing

/// `ready()` of parents and children, after failures, and asynchronous keys in both.
@Suite(.timeLimit(hang)) struct ReadyTests {
  private let container = Container()

  @Test func aChildIsReadyWhenItsParentIs() async throws {
    let child = container.child()
    let waiting = Task { try await child.ready() }
    try await container.start()
    try await waiting.value
    try await child.ready()
  }

  @Test func theStartOfAChildMakesNoParentReady() async throws {
    let child = container.child()
    try await child.start()
    try await child.ready()
    let waiting = Task { try await container.ready() }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
  }

  @Test func theStartOfAChildMakesNothingThatItReplaces() async throws {
    let made = Log()
    container.register { _ -> RealAPI in
      made.add("of the parent")
      return RealAPI()
    }
    let child = container.child()
    child.register { _ -> RealAPI in
      made.add("of the child")
      return RealAPI()
    }
    try await child.start()
    #expect(made.lines == ["of the child"])
  }

  @Test func callersThatWaitHearThatTheStartFailed() async throws {
    let tries = Counter()
    container.register { _ in
      if tries.up() == 1 { throw Failure() }
      return RealAPI()
    }
    let waiting = Task { try await container.ready() }
    await #expect(throws: Failure.self) { try await container.start() }
    await #expect(throws: Failure.self) { try await waiting.value }
    await #expect(throws: Failure.self) { try await container.ready() }
    try await container.start()
    try await container.ready()
    #expect(tries.value == 2)
  }

  @Test func oneAsynchronousKeyInAParentAndItsChildIsResolvedInBoth() async throws {
    let key = Container.Key<String>("async")
    container.register(key) { _ async in "parent" }
    let child = container.child()
    child.register(key) { _ async throws in "child of \(try container.get(key))" }
    #expect(try await child.resolve(key) == "child of parent")
  }

  @Test func validateTriesATransientForEachContainerThatAsks() throws {
    container.register(Container.Key("host"), scope: .transient) { _ in "host" }
    container.register(
      scope: .transient, using: { (host: String) in RealAPI(host: host) },
      with: Container.Key("session"))
    container.register(using: { (api: RealAPI) in [api] })
    let child = container.child { $0.register(Container.Key("session")) { _ in "session" } }
    // In the child the transient one finds its argument, from the parent's singleton it does not.
    let problems = injectionError { try child.validate() }?.problems
    #expect(problems?.map(\.path) == [["Array<RealAPI>", "RealAPI", "String \"session\""]])
  }

  @Test func aFreshChildIsACopyOfThatMoment() throws {
    container.register { _ in RealAPI() }.as(Container.Key<any API>()) { $0 }
    let fresh = container.child(fresh: true)
    container.register { _ in 5 }
    try container.set("later")
    #expect(try fresh.find(Container.Key<Int>()) == nil)
    #expect(try fresh.find(Container.Key<String>()) == nil)
    #expect(
      try fresh.get(Container.Key<RealAPI>()) === fresh.get(Container.Key<any API>()) as? RealAPI)
  }

  /// An error whose end uses the container.
  private final class Last: Error, Sendable {
    let action: @Sendable () -> Void
    init(_ action: @escaping @Sendable () -> Void) { self.action = action }
    deinit { action() }
  }

  @Test func theEndOfAnErrorOfStartMayUseTheContainer() async throws {
    let (tries, ended) = (Counter(), Counter())
    container.register { c -> RealAPI in
      if tries.up() < 3 {
        throw Last { if (try? c.find(Container.Key<Int>())) == .some(nil) { ended.up() } }
      }
      return RealAPI()
    }
    for _ in 1...2 { await #expect(throws: Last.self) { try await container.start() } }
    try await container.start()
    #expect(ended.value == 2)
  }

  @Test func aStartThatFailedKeepsNoContainer() async {
    weak var gone: Container?
    do {
      let container = Container()
      gone = container
      container.register { _ async in RealAPI() }
      container.register { c -> Int in
        try c.child(fresh: true).get(Container.Key<RealAPI>()).host.count
      }
      #expect(await injectionError { try await container.start() }?.code == .notReady)
    }
    #expect(gone == nil)
  }

  @Test func callersThatStopWaitingAreForgotten() async {
    weak var gone: Container?
    do {
      let child = container.child()
      gone = child
      let waiting = Task { try await child.ready() }
      waiting.cancel()
      await #expect(throws: CancellationError.self) { try await waiting.value }
    }
    #expect(gone == nil)
  }

  @Test func aChildWhoseStartFailedIsReadyWhenItsParentIs() async throws {
    let child = container.child()
    child.register(using: { (_: String) in 5 })
    await #expect(throws: InjectionError.self) { try await child.start() }
    await #expect(throws: InjectionError.self) { try await child.ready() }
    try await container.start()
    try await child.ready()
  }

  @Test func whatIsSetNeedsNoArguments() throws {
    container.register(using: { (_: Other) in Node() })
    container.register(using: { (_: Node) in Other() })
    #expect(injectionError { try container.validate() }?.problems.map(\.code) == [.circular])
    try container.set(Other())
    #expect(throws: Never.self) { try container.validate() }
    #expect(throws: Never.self) { try container.get(Container.Key<Node>()) }
  }

  @Test func aTransientThatTwoContainersAskForIsNoCycle() throws {
    struct Inner: Sendable {}
    struct Outer: Sendable {}
    container.register(scope: .transient, using: { (_: Inner) in 5 })
    container.register { _ in Inner() }
    container.register(using: { (_: Int) in Outer() })
    let child = container.child()
    child.register(using: { (_: Outer) in Inner() })
    #expect(try child.get(Container.Key<Int>()) == 5)
    #expect(throws: Never.self) { try child.validate() }
  }
}
