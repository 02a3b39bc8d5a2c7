// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection
import Synchronization
import Testing

@Suite(.timeLimit(hang)) struct CycleTests {
  private let container = Container()

  // Alchemic injects properties after creation, so that two objects can know each other.
  @Test(arguments: [true, false])
  func propertyCycleEndsWithOnePair(nodeFirst: Bool) throws {
    let made = Counter()
    linkPair(container, made, made)
    if nodeFirst { _ = try container.get(Container.Key<Node>()) }
    let other: Other = try container.get()
    let node: Node = try container.get()
    #expect(node.peer.withLock { $0 } === node)
    #expect(other.node.withLock { $0 } === node)
    #expect(made.value == 2)
  }

  @Test func aRecipeThatMakesItselfWithArgumentsForEverIsAnErrorAndNoCrash() {
    container.register(make: { c in
      _ = try c.make(Container.Key<Node>(), with: 1)
      return Node()
    })
    #expect(
      injectionError { _ = try container.make(Container.Key<Node>(), with: 0) }?.code == .tooDeep)
  }

  @Test func aRecipeMayMakeItselfWithArgumentsThatComeToAnEnd() throws {
    struct Height: Sendable { let levels: Int }
    container.register(make: { c in
      let levels = try c.get(Container.Key<Height>()).levels
      guard levels > 0 else { return 1 }
      return try c.make(Container.Key<Int>(), with: Height(levels: levels - 1)) + 1
    })
    #expect(try container.make(Container.Key<Int>(), with: Height(levels: 30)) == 31)
    let error = injectionError {
      _ = try container.make(Container.Key<Int>(), with: Height(levels: 31))
    }
    #expect(error?.code == .tooDeep)
    #expect(error?.path == ["Int"])
  }

  @Test func cycleOfFactoriesIsAnErrorWithItsPath() {
    container.register { c -> Node in
      _ = try c.get(Container.Key<Other>())
      return Node()
    }
    container.register { c in Other(try c.get()) }
    container.register { c -> Int in
      _ = try c.get(Container.Key<Node>())
      return 0
    }
    let error = injectionError { _ = try container.get(Container.Key<Int>()) }
    #expect(error?.code == .circular)
    #expect(error?.path == ["Node", "Other", "Node"])
  }

  @Test func cycleOfTransientsIsAnErrorToo() {
    container.register(scope: .transient) { c -> Node in
      _ = try c.get(Container.Key<Other>())
      return Node()
    }
    container.register(scope: .transient) { c in Other(try c.get()) }
    let error = injectionError { _ = try container.get(Container.Key<Other>()) }
    #expect(error?.path == ["Other", "Node", "Other"])
    let made = injectionError { _ = try container.make(Container.Key<Node>()) }
    #expect(made?.path == ["Node", "Other", "Node"])
  }

  @Test func objectWhoseThenFailsIsNotPublished() throws {
    let tries = Counter()
    container.register(make: { _ in Node() }) { _, _ in
      if tries.up() == 1 { throw Failure() }
    }
    #expect(throws: Failure.self) { _ = try container.get(Container.Key<Node>()) }
    #expect(container.description == "Node: singleton")
    #expect(try container.get(Container.Key<Node>()) === container.get(Container.Key<Node>()))
    #expect(tries.value == 2)
  }

  @Test(arguments: [2, 3]) func cycleAcrossThreadsIsAnErrorWithItsPath(count: Int) async {
    let latches = (0..<count).map { _ in Latch() }
    for index in 0..<count {
      container.register(Container.Key<Int>("\(index)")) { c in
        latches[index].open()
        latches.forEach { $0.wait() }
        return try c.get(Container.Key<Int>("\((index + 1) % count)"))
      }
    }
    let errors = await onThreads(count) { index in
      try container.get(Container.Key<Int>("\(index)"))
    }.map(\.injectionError)
    let keys = (0..<count).map { "Int \"\($0)\"" }
    let links = Dictionary(uniqueKeysWithValues: zip(keys, keys.dropFirst() + keys.prefix(1)))
    for error in errors {
      let path = error?.path ?? []
      #expect(error?.code == .circular && path.count == count + 1)
      #expect(zip(path, path.dropFirst()).allSatisfy { links[$0] == $1 })
    }
  }

  @Test func propertyCycleAcrossThreadsEndsWithOnePair() async throws {
    let (node, other) = (Latch(), Latch())
    container.register(make: { _ in Node() }) { made, c in
      node.open()
      other.wait()
      let peer: Other = try c.get()
      made.peer.withLock { $0 = peer.node.withLock { $0 } ?? made }
    }
    container.register(make: { _ in Other() }) { made, c in
      other.open()
      node.wait()
      let peer: Node = try c.get()
      made.node.withLock { $0 = peer }
    }
    let results = await onThreads(2) { index in
      if index == 0 { _ = try container.get(Container.Key<Node>()) }
      if index == 1 { _ = try container.get(Container.Key<Other>()) }
    }
    for result in results { #expect(throws: Never.self) { try result.get() } }
    let (one, two) = (
      try container.get(Container.Key<Node>()), try container.get(Container.Key<Other>())
    )
    #expect(two.node.withLock { $0 } === one)
    #expect(one.peer.withLock { $0 } === one)
  }

  @Test func asynchronousCycleIsAnErrorAcrossTasks() async {
    let (node, other) = (Latch(), Latch())
    container.register { c async throws -> Node in
      node.open()
      await other.yieldUntilOpen()
      _ = try await c.resolve(Container.Key<Other>())
      return Node()
    }
    container.register { c async throws -> Other in
      other.open()
      await node.yieldUntilOpen()
      return Other(try await c.resolve(Container.Key<Node>()))
    }
    async let one = injectionError { _ = try await container.resolve(Container.Key<Node>()) }
    async let two = injectionError { _ = try await container.resolve(Container.Key<Other>()) }
    let errors = await [one, two]
    #expect(errors.allSatisfy { $0?.code == .circular && $0?.path.count == 3 })
  }

  @Test func asynchronousCycleThroughPlainReadsIsAnError() async {
    container.register { c async throws -> Node in
      _ = try c.get(Container.Key<Other>())
      return Node()
    }
    container.register { c async throws -> Other in Other(try c.get()) }
    let error = await injectionError { _ = try await container.resolve(Container.Key<Node>()) }
    #expect(error?.code == .circular)
  }

  @Test func diamondOfAsyncLetsIsNoCycle() async throws {
    let bottoms = Counter()
    container.register(Container.Key("bottom")) { _ async in bottoms.up() }
    for side in ["left", "right"] {
      container.register(Container.Key(side)) { c async throws in
        try await c.resolve(Container.Key<Int>("bottom")) + 1
      }
    }
    container.register(Container.Key("top")) { c async throws -> Int in
      async let left = c.resolve(Container.Key<Int>("left"))
      async let right = c.resolve(Container.Key<Int>("right"))
      return try await left + right
    }
    #expect(try await container.resolve(Container.Key<Int>("top")) == 4)
    #expect(bottoms.value == 1)
  }

  /// The two complete each other; what was seen is noted in the node, for it has no other place.
  private func linkPair(_ container: Container, _ node: Counter, _ other: Counter) {
    container.register(make: { _ in Node() }) { made, c in
      node.up()
      _ = try c.get(Container.Key<Other>())
      made.peer.withLock { $0 = made }
    }
    container.register(make: { _ in Other() }) { made, c in
      other.up()
      let peer: Node = try c.get()
      made.node.withLock { $0 = peer }
    }
  }
}
