// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection
import Testing

/// What a `set` is laid over, and what else it must not touch.
@Suite(.timeLimit(hang)) struct SetOverlayTests {
  private let container = Container()

  private func api() -> Container {
    Container { $0.register { _ in RealAPI() }.as(APIKey()) { $0 } }
  }

  @Test func nilBringsBackTheObjectThatWasMade() async throws {
    let container = api()
    container.register(Container.Key<Int>()) { _ async in 5 }
    try await container.start()
    let made: RealAPI = try container.get()
    try container.set(nil, for: Container.Key<RealAPI>())
    #expect(try container.get(Container.Key<RealAPI>()) === made)
    try container.set(RealAPI(host: "set"))
    try container.set(6)
    #expect(try container.get(APIKey()).host == "set")
    try container.set(nil, for: Container.Key<RealAPI>())
    try container.set(nil, for: Container.Key<Int>())
    #expect(try container.get(APIKey()) as? RealAPI === made)
    #expect(try container.get(Container.Key<Int>()) == 5)
  }

  @Test func anUnnamedSetIsForTheOnlyNamedOne() throws {
    let single = Container { $0.register(Container.Key("only")) { _ in 1 } }
    try single.set(99)
    #expect(try single.get(Container.Key<Int>()) == 99)
  }

  @Test func makeSaysThatWhatIsSetHasNoRecipe() throws {
    try container.set(5)
    let error = injectionError { _ = try container.make(Container.Key<Int>()) }
    #expect(error?.code == .missing)
    #expect(error?.cure == "It is set and has no recipe: use `get`.")
  }

  @Test func aSetEndsTheWaitForAMakerThatDoesNot() async throws {
    let (making, asking, end) = (Latch(), Latch(), Latch())
    container.register { _ -> RealAPI in
      making.open()
      end.wait()
      return RealAPI()
    }
    let set = RealAPI(host: "set")
    let results = await onThreads(3) { index -> RealAPI? in
      if index == 0 { return try container.get(Container.Key<RealAPI>()) }
      making.wait()
      if index == 1 {
        asking.open()
        defer { end.open() }
        return try container.get(Container.Key<RealAPI>())
      }
      asking.wait()
      for _ in 0..<100_000 { _ = Task.isCancelled }  // The other waits now.
      try container.set(set)
      return nil
    }
    #expect(try results[0].get() === set)
    #expect(try results[1].get() === set)
  }

  @Test func anErrorThatIsAnObjectIsNotKeptWeaklyByMistake() throws {
    final class Fault: Error, Sendable {}
    let fault = Fault()
    try container.set(fault, weak: true)
    #expect(try container.get(Container.Key<Fault>()) === fault)
    let error = injectionError { try container.set(fault as any Error, weak: true) }
    #expect(error?.code == .notAClass)
  }

  @Test func anAliasIsOneObjectForAllLookups() async throws {
    final class Adapter: Sendable {
      init(_: RealAPI) {}
    }
    for _ in 0..<200 {
      let container = Container()
      container.register { _ in RealAPI() }.as(Container.Key<Adapter>()) { Adapter($0) }
      _ = try container.get(Container.Key<RealAPI>())
      let adapters = await onThreads(4) { _ in try container.get(Container.Key<Adapter>()) }
      #expect(Set(try adapters.map { ObjectIdentifier(try $0.get()) }).count == 1)
    }
  }

  @Test func aModuleMayThrowAndAnInitialiserMayTakeTheContainer() throws {
    struct Screen: Sendable { let container: Container }
    func module(_ c: Container) throws {
      try c.set(nil, for: Container.Key<String>("user"))
      c.register { c in Screen(container: c) }
    }
    let container = try Container(module)
    #expect(try container.get(Container.Key<Screen>()).container === container)
    #expect(
      injectionError { _ = try container.get(Container.Key<String>()) }?.cure
        == "It is registered but not set: call `set`.")
  }

  @Test func nilDuringAConstructionLeavesItAlone() throws {
    let made = Counter()
    container.register { c -> RealAPI in
      made.up()
      try c.set(nil, for: Container.Key<RealAPI>())
      return RealAPI()
    }
    _ = try container.get(Container.Key<RealAPI>())
    #expect(made.value == 1)
  }

  @Test func anAliasIsOneObjectAlsoAfterAWeaklySetOneIsGone() throws {
    final class Adapter: Sendable {
      init(_: RealAPI) {}
    }
    container.register { _ in RealAPI() }.as(Container.Key<Adapter>()) { Adapter($0) }
    _ = try container.get(Container.Key<RealAPI>())
    var set: RealAPI? = RealAPI(host: "set")
    try container.set(set, weak: true)
    #expect(try container.get(Container.Key<RealAPI>()) === set)
    set = nil
    let adapter: Adapter = try container.get()
    #expect(try container.get(Container.Key<Adapter>()) === adapter)
  }
}
