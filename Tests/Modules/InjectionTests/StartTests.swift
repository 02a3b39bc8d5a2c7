// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection
import Testing

@MainActor final class ViewModel {
  private(set) var host: String
  init(host: String) { self.host = host }
}

@Suite(.timeLimit(hang)) struct StartTests {
  private let container = Container()

  // Self-start; here the program decides.
  @Test func startMakesEverySingletonAndNothingElse() async throws {
    let made = Log()
    for name in ["a", "b"] {
      container.register(Container.Key(name)) { _ -> Int in
        made.add(name)
        return 0
      }
    }
    container.register(scope: .transient) { _ -> RealAPI in
      made.add("transient")
      return RealAPI()
    }
    container.register { _ async -> Shop in
      made.add("async")
      return Shop(api: MockAPI())
    }
    #expect(made.lines == [])
    try await container.start()
    try await container.start()
    #expect(made.lines == ["async", "a", "b"])
  }

  @Test func asynchronousSingletonIsAPlainReadAfterStart() async throws {
    container.register { _ async -> RealAPI in
      await Task.yield()
      return RealAPI()
    }
    .as(Container.Key<any API>()) { $0 }
    let error = injectionError { _ = try container.get(Container.Key<any API>()) }
    #expect(error?.code == .notReady)
    #expect(error?.key == "RealAPI")
    try await container.start()
    let plain: () throws -> any API = { try container.get() }
    #expect(try plain().host == "real")
  }

  @Test func actorIsolatedInitialiserRunsOnItsActor() async throws {
    container.register { _ in "isolated" }
    container.register { c in try await ViewModel(host: c.get()) }
    let model: ViewModel = try await container.resolve()
    let host = await model.host
    #expect(host == "isolated")
  }

  @Test func mainActorRecipeRunsAndIsInjectedThere() async throws {
    container.register { _ in RealAPI() }
    container.register { @MainActor c in
      let controller = Controller()
      try c.inject(into: controller)
      return controller
    }
    try await container.start()
    let plain: () throws -> Controller = { try container.get() }
    let controller = try plain()
    #expect(await controller.host == "real")
  }

  @Test func asynchronousObjectOfAContainerThatIsGoneIsAnErrorAndNoCrash() async {
    container.register { _ -> String in
      let passing = Container { $0.register { _ async in 5 } }
      return "\(try passing.get(Container.Key<Int>()))"
    }
    let error = await injectionError { _ = try await container.resolve(Container.Key<String>()) }
    #expect(error?.code == .notReady)
  }

  @Test func resolveMakesAnAsynchronousDependencyFirst() async throws {
    let made = Counter()
    container.register { _ async -> RealAPI in
      made.up()
      return RealAPI()
    }
    .as(Container.Key<any API>()) { $0 }
    container.register(using: Shop.init)
    container.register(Container.Key<String>(), using: { (shop: Shop) in shop.api.host })
    #expect(try await container.resolve(Container.Key<String>()) == "real")
    #expect(made.value == 1)
  }

  @Test func manyTasksMakeOneAsynchronousObject() async throws {
    let made = Counter()
    container.register { _ async -> RealAPI in
      made.up()
      for _ in 0..<10 { await Task.yield() }
      return RealAPI()
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<32 {
        group.addTask { _ = try await container.resolve(Container.Key<RealAPI>()) }
      }
      try await group.waitForAll()
    }
    #expect(made.value == 1)
  }

  // AcWhenReady, AlchemicDidFinishStarting
  @Test func readyReturnsOnlyAfterStart() async throws {
    let order = Log()
    let latch = Latch()
    container.register { _ async -> RealAPI in
      await latch.yieldUntilOpen()
      order.add("made")
      return RealAPI()
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for waiter in [container, container.child()] {
        group.addTask {
          try await waiter.ready()
          order.add("ready")
        }
      }
      group.addTask { try await container.start() }
      for _ in 0..<10 { await Task.yield() }
      latch.open()
      try await group.waitForAll()
    }
    try await container.ready()
    #expect(order.lines == ["made", "ready", "ready"])
  }

  @Test func cancelledTaskStopsWaitingForReady() async {
    for isEarly in [true, false] {
      let begun = Latch()
      let task = Task {
        begun.open()
        try await container.ready()
      }
      if !isEarly {
        await begun.yieldUntilOpen()
        for _ in 0..<10 { await Task.yield() }
      }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }

  @Test func startReportsAnInvalidGraphBeforeItMakesAnything() async {
    let made = Counter()
    container.register { _ in made.up() }
    container.register(using: Shop.init)
    let error = await injectionError { try await container.start() }
    #expect(error?.code == .invalid)
    #expect(made.value == 0)
  }

  @Test func startedFreshChildMakesItsOwn() async throws {
    container.register { _ async in RealAPI() }
    container.register(using: { (api: RealAPI) in Shop(api: api) })
    try await container.start()
    let fresh = try container.child(fresh: true) { try $0.set(RealAPI(host: "override")) }
    try await fresh.start()
    #expect(try fresh.get(Container.Key<Shop>()).api.host == "override")
    #expect(try container.get(Container.Key<Shop>()).api.host == "real")
  }
}

@Suite(.timeLimit(hang)) struct ValidationTests {
  private let container = Container()

  @Test func everyProblemIsReportedAtOnceAndNoFactoryRuns() throws {
    let made = Counter()
    container.register(Container.Key<Int>("twice")) { _ in made.up() }
    container.register(Container.Key<Int>("twice")) { _ in made.up() }
    container.register(using: Shop.init)  // missing: API
    container.register(using: { (_: Int) in RealAPI() })  // ambiguous: Int
    container.register(using: { (_: Other) in Node() })
    container.register(using: { Other($0) }, with: Container.Key<Node>())
    container.register(using: { (_: Vehicle) in Vehicle() })
    container.register(Container.Key("a"), primary: true) { _ in 1.5 }
    container.register(Container.Key("b"), primary: true) { _ in 2.5 }
    let error = injectionError { try container.validate() }
    let problems = error?.problems ?? []
    #expect(
      problems.map { "\($0.code) \($0.path.joined(separator: " > "))" } == [
        "duplicate Int \"twice\"", "ambiguous Double",
        "missing Shop > API", "ambiguous RealAPI > Int",
        "circular Node > Other > Node", "circular Vehicle > Vehicle",
      ])
    #expect(problems.allSatisfy { !$0.cure.isEmpty })
    #expect(error?.description.split(separator: "\n- ").count == 7)
    #expect(made.value == 0)
  }

  @Test func circularThroughAnAliasIsFound() {
    container.register(using: { (_: Shop) in RealAPI() }).as(Container.Key<any API>()) { $0 }
    container.register(using: Shop.init)
    let error = injectionError { try container.validate() }
    #expect(error?.problems.map(\.path) == [["RealAPI", "Shop", "RealAPI"]])
  }

  @Test func soundGraphIsValid() throws {
    container.register { _ in RealAPI() }.as(Container.Key<any API>()) { $0 }
    container.register(using: Shop.init)
    container.register(
      Container.Key("greeting"), using: { "\($0)" }, with: Container.Key<any API>())
    try container.validate()
    try container.child(fresh: true).validate()
  }

  @Test func declaredArgumentIsNotMissing() throws {
    container.register(scope: .transient, using: { (host: String) in RealAPI(host: host) })
    #expect(injectionError { try container.validate() } != nil)
    try container.set(nil, for: Container.Key<String>())
    try container.validate()
    #expect(try container.make(Container.Key<RealAPI>(), with: "given").host == "given")
  }
}
