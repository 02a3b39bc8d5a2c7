// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection
import Testing

/// Recipes that capture a container, instead of using the one that is their argument.
@Suite(.timeLimit(hang)) struct CaptureTests {
  private let container = Container { c in c.register { _ in RealAPI() } }

  @Test func aCopiedRecipeThatCapturesTheOriginalIsAnError() throws {
    container.register { [container] _ in Shop(api: try container.get(Container.Key<RealAPI>())) }
    _ = try container.get(Container.Key<Shop>())
    let fresh = container.child(fresh: true)
    let error = injectionError { _ = try fresh.get(Container.Key<Shop>()) }
    #expect(error?.code == .captured)
    #expect(error?.path == ["Shop", "RealAPI"])
    #expect(error?.cure == "Use the container that is the recipe's argument.")
    // The original works as before.
    #expect(throws: Never.self) { try container.make(Container.Key<Shop>()) }
  }

  @Test(arguments: 0..<6)
  func everyUseOfTheOriginalIsAnError(index: Int) {
    let uses: [@Sendable (Container) throws -> Void] = [
      { _ = try $0.find(Container.Key<RealAPI>()) }, { _ = try $0.all(RealAPI.self) },
      { _ = try $0.make(Container.Key<RealAPI>()) }, { try $0.set(RealAPI()) },
      { _ = try $0.child().get(Container.Key<RealAPI>()) },
      { c in try c.asCurrent { _ = try Container.current.get(Container.Key<RealAPI>()) } },
    ]
    container.register { [container] _ -> Shop in
      try uses[index](container)
      return Shop(api: MockAPI())
    }
    let fresh = container.child(fresh: true)
    #expect(injectionError { _ = try fresh.get(Container.Key<Shop>()) }?.code == .captured)
    #expect(
      injectionError { _ = try fresh.child(fresh: true).get(Container.Key<Shop>()) }?.code
        == .captured)
  }

  @Test func anAsynchronousRecipeOfAFreshChildMayNotUseTheOriginal() async {
    container.register { [container] _ async throws in
      Shop(api: try await container.resolve(Container.Key<RealAPI>()))
    }
    let fresh = container.child(fresh: true)
    let error = await injectionError { _ = try await fresh.resolve(Container.Key<Shop>()) }
    #expect(error?.code == .captured)
  }

  @Test func theClosureOfAnAliasInAFreshChildMayNotUseTheOriginal() throws {
    typealias Attempt = Result<RealAPI, any Error>
    container.register { _ in 5 }
      .as(Container.Key<Attempt>()) { [container] _ in
        Attempt { try container.get(Container.Key<RealAPI>()) }
      }
    let attempt: Attempt = try container.child(fresh: true).get()
    #expect(attempt.injectionError?.code == .captured)
  }

  @Test func aRecipeOfAFreshChildMayNotStartTheOriginal() async {
    container.register { [container] _ async throws -> Shop in
      try await container.start()
      return Shop(api: MockAPI())
    }
    let fresh = container.child(fresh: true)
    let error = await injectionError { _ = try await fresh.resolve(Container.Key<Shop>()) }
    #expect(error?.code == .captured)
    #expect(error?.path == ["Shop", "Container"])
  }

  @Test(arguments: [false, true])
  func neitherIsARecipeOfAnotherContainer(isFresh: Bool) {
    var other = Container { [container] c in
      c.register { _ in Other(try container.get(Container.Key<Node>())) }
    }
    container.register { _ in Node() }
    if isFresh { other = other.child(fresh: true) }
    container.register { [other] _ -> Shop in
      _ = try other.get(Container.Key<Other>())
      return Shop(api: MockAPI())
    }
    let fresh = container.child(fresh: true)
    #expect(injectionError { _ = try fresh.get(Container.Key<Shop>()) }?.code == .captured)
  }

  @Test func neitherIsWhatACopiedRecipeRegisters() {
    container.register { [container] c -> Shop in
      try c.child { $0.register { _ in Shop(api: try container.get(Container.Key<RealAPI>())) } }
        .get()
    }
    let fresh = container.child(fresh: true)
    #expect(injectionError { _ = try fresh.get(Container.Key<Shop>()) }?.code == .captured)
  }

  @Test func neitherIsATaskThatOutlivesItsRecipe() async throws {
    let isMade = Latch()
    container.register { [container] _ in
      Task {
        await isMade.yieldUntilOpen()
        return try container.get(Container.Key<RealAPI>())
      }
    }
    let task: Task<RealAPI, any Error> = try container.child(fresh: true).get()
    isMade.open()
    #expect(await task.result.injectionError?.code == .captured)
  }

  @Test func aTestsOwnRecipeMayAskTheOriginal() throws {
    let real: RealAPI = try container.get()
    let fresh = container.child(fresh: true) { [container] c in
      c.register { _ in Shop(api: try container.get(Container.Key<RealAPI>())) }
    }
    #expect(try fresh.get(Container.Key<Shop>()).api as? RealAPI === real)
    try fresh.asCurrent { () throws in #expect(try container.get(Container.Key<RealAPI>()) === real)
    }
  }

  @Test func aTestsOwnRecipeMayAskItAlsoForACopiedOne() throws {
    let real: RealAPI = try container.get()
    container.register { c in Other(try c.get()) }
    container.register { _ in Node() }
    let fresh = container.child(fresh: true) { [container] c in
      c.register { _ throws -> Node in
        let found: RealAPI = try container.get()
        #expect(found === real)
        return Node()
      }
    }
    #expect(throws: Never.self) { try fresh.get(Container.Key<Other>()) }
  }

  @Test func aCopiedRecipeMayMakeChildrenOfItsOwnContainer() throws {
    container.register { c in
      Shop(api: try c.child().child(fresh: true).get(Container.Key<RealAPI>()))
    }
    #expect(throws: Never.self) {
      try container.child(fresh: true).get(Container.Key<Shop>())
    }
  }
}
