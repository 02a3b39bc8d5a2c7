// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection
import Synchronization
import Testing

@Suite(.timeLimit(hang)) struct RaceTests {
  private let container = Container()

  @Test(arguments: [Container.Scope.singleton, .weak])
  func sixteenThreadsMakeOneObject(scope: Container.Scope) async throws {
    for _ in 0..<50 {
      let container = Container()
      let made = Counter()
      container.register(scope: scope) { _ -> RealAPI in
        made.up()
        return RealAPI()
      }
      let apis = try await onThreads(16) { _ in try container.get(Container.Key<RealAPI>()) }
        .map { try $0.get() }
      #expect(made.value == 1)
      #expect(Set(apis.map(ObjectIdentifier.init)).count == 1)
    }
  }

  @Test func noCallerSeesAnObjectBeforeItIsComplete() async throws {
    for _ in 0..<50 {
      let container = Container()
      let begun = Latch()
      container.register(make: { _ in Node() }) { node, _ in
        begun.open()
        for _ in 0..<1000 { node.peer.withLock { _ in } }
        node.peer.withLock { $0 = node }
      }
      let peers = await onThreads(4) { index in
        if index > 0 { begun.wait() }
        return try container.get(Container.Key<Node>()).peer.withLock { $0 }
      }
      let node: Node = try container.get()
      for peer in peers { #expect(try peer.get() === node) }
    }
  }

  @Test func asynchronousAndPlainCallersShareOneObject() async throws {
    let made = Counter()
    container.register { _ -> RealAPI in
      made.up()
      return RealAPI()
    }
    let ids = try await withThrowingTaskGroup(of: ObjectIdentifier.self) { group in
      for index in 0..<32 {
        group.addTask {
          if index.isMultiple(of: 2) {
            return ObjectIdentifier(try await container.resolve(Container.Key<RealAPI>()))
          }
          return ObjectIdentifier(try container.get(Container.Key<RealAPI>()))
        }
      }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(ids.count == 1)
    #expect(made.value == 1)
  }

  @Test func factoryMayWaitForAThreadThatUsesTheContainer() async throws {
    let done = Latch()
    container.register { _ in RealAPI() }
    container.register { _ -> Shop in
      Task.detached {
        defer { done.open() }
        container.register { _ in 5 }
        _ = try container.get(Container.Key<RealAPI>())
        try container.set("set while the shop is being made")
      }
      done.wait()
      return Shop(api: MockAPI())
    }
    let shops = await onThreads(1) { _ in try container.get(Container.Key<Shop>()) }
    #expect(try shops[0].get().api.host == "mock")
    #expect(try container.find(Container.Key<String>()) != nil)
    #expect(try container.get(Container.Key<Int>()) == 5)
  }

  @Test func callersThatWaitForAFailureTryForThemselves() async throws {
    let (tries, failing) = (Counter(), Latch())
    container.register { _ -> RealAPI in
      if tries.up() == 1 {
        failing.open()
        for _ in 0..<10_000 { _ = tries.value }
        throw Failure()
      }
      return RealAPI()
    }
    let results = await onThreads(8) { index in
      if index > 0 { failing.wait() }
      return try container.get(Container.Key<RealAPI>())
    }
    #expect(results.filter { (try? $0.get()) == nil }.count == 1)
    #expect(tries.value == 2)
  }

  @Test func setOvertakesAConstruction() async throws {
    let (begun, isSet) = (Latch(), Latch())
    container.register { _ -> RealAPI in
      begun.open()
      isSet.wait()
      return RealAPI()
    }
    let api = RealAPI(host: "set")
    let seen = await onThreads(3) { index in
      if index > 0 { begun.wait() }
      if index == 2 {
        try container.set(api)
        isSet.open()
      }
      return try container.get(Container.Key<RealAPI>())
    }
    for result in seen { #expect(try result.get() === api) }
    #expect(try container.get(Container.Key<RealAPI>()) === api)
  }

  @Test func makerThatEndsWhileASetIsInjectedDropsItsObject() async throws {
    let (begun, isSetting, isMade) = (Latch(), Latch(), Latch())
    container.register { _ -> Told in
      begun.open()
      isSetting.wait()
      return Told { isMade.open() }
    }
    let told = Told {
      isSetting.open()
      isMade.wait()
      for _ in 0..<100_000 { _ = Task.isCancelled }  // The maker ends now.
    }
    let seen = await onThreads(2) { index in
      if index == 1 {
        begun.wait()
        try container.set(told)
      }
      return try container.get(Container.Key<Told>())
    }
    for result in seen { #expect(try result.get() === told) }
  }

  @Test func registeringWhileOthersLookUpLosesNothing() async throws {
    let sums = await onThreads(4) { thread in
      try (0..<100).reduce(0) { sum, index in
        container.register(Container.Key("\(thread)-\(index)")) { _ in index }
        return try sum + container.get(Container.Key<Int>("\(thread)-\(index)"))
      }
    }
    #expect(try sums.map { try $0.get() } == [4950, 4950, 4950, 4950])
    #expect(try container.all(Int.self).count == 400)
  }

  @Test func firstSetsOfOneKeyLeaveOneRegistration() async throws {
    for _ in 0..<50 {
      let container = Container()
      _ = await onThreads(4) { index in try container.set(index) }
      #expect(throws: Never.self) { try container.get(Container.Key<Int>()) }
      #expect(container.description == "Int: external, set")
    }
  }

  @Test func nothingIsKeptForCallersThatWaited() async throws {
    for _ in 0..<50 {
      weak var gone: Container?
      do {
        let (container, begun) = (Container(), Latch())
        gone = container
        container.register { _ -> RealAPI in
          begun.open()
          for _ in 0..<10_000 { _ = Task.isCancelled }  // The others wait now.
          return RealAPI()
        }
        _ = await onThreads(4) { index in
          if index > 0 { begun.wait() }
          return try container.get(Container.Key<RealAPI>())
        }
      }
      #expect(gone == nil)
    }
  }
}
