// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection
import Synchronization
import Testing

/// Cycles with one link in a factory and one in `then:`, which may be entered at either object.
@Suite(.timeLimit(hang)) struct MixedCycleTests {
  private let container = Container()

  /// The node's peer is the node of the other, for it has no other place.
  private func registerNode(_ container: Container) {
    container.register(make: { _ in Node() }) { node, c in
      let other: Other = try c.get()
      node.peer.withLock { $0 = other.node.withLock { $0 } ?? node }
    }
  }

  private func registerOther(_ container: Container, _ scope: Container.Scope = .singleton) {
    container.register(scope: scope) { c in Other(try c.get(NodeKey())) }
  }

  private func expectOnePair(_ container: Container) throws {
    let (node, other): (Node, Other) = try (container.get(), container.get())
    #expect(node.peer.withLock { $0 } === node)
    #expect(other.node.withLock { $0 } === node)
  }

  @Test(arguments: [true, false])
  func startMakesOnePairInEitherOrder(nodeIsFirst: Bool) async throws {
    if nodeIsFirst { registerNode(container) }
    registerOther(container)
    if !nodeIsFirst { registerNode(container) }
    try await container.start()
    try expectOnePair(container)
  }

  @Test(arguments: [Container.Scope.singleton, .weak, .transient])
  func whicheverIsAskedForFirstThereIsOneNode(scope: Container.Scope) throws {
    registerOther(container, scope)
    registerNode(container)
    let other: Other = try container.get()
    let node: Node = try container.get()
    #expect(other.node.withLock { $0 } === node)
    #expect(node.peer.withLock { $0 } === node)
  }

  @Test func aDeclaredArgumentIsSuchALinkToo() async throws {
    container.register(using: { Other($0) }, with: NodeKey())
    registerNode(container)
    try await container.start()
    try expectOnePair(container)
  }

  @Test func whatFailedOnTheWayIsNotKept() throws {
    let (nodes, others) = (Counter(), Counter())
    container.register { c in
      others.up()
      return Other(try c.get(NodeKey()))
    }
    container.register(
      make: { _ in
        nodes.up()
        return Node()
      },
      then: { node, c in
        let other: Other = try c.get()
        node.peer.withLock { $0 = other.node.withLock { $0 } }
      })
    _ = try container.get(OtherKey())
    try expectOnePair(container)
    #expect(nodes.value == 2 && others.value == 2)
  }

  @Test func aRingOfManyMixedLinksIsMade() throws {
    // Each of 6 texts needs every number in its factory, each number every text in `then:`.
    let ends = Counter()
    for place in 0..<6 {
      container.register(Container.Key("text \(place)")) { c -> String in
        try (0..<6).map { "\(try c.get(Container.Key<Int>("\($0)")))" }.joined()
      }
    }
    for place in 0..<6 {
      container.register(Container.Key("\(place)"), make: { _ in place }) { _, c in
        for place in 0..<6 { _ = try c.get(Container.Key<String>("text \(place)")) }
        ends.up()
      }
    }
    for place in 0..<6 {
      #expect(try container.get(Container.Key<String>("text \(place)")) == "012345")
    }
    #expect(ends.value >= 6)
  }

  @Test(arguments: [true, false])
  func threadsThatEnterItAtEachObjectEndWithOnePair(isMixed: Bool) async throws {
    for _ in 0..<200 {
      let container = Container()
      if isMixed {
        registerOther(container)
      } else {
        container.register(make: { _ in Other() }) { other, c in
          let node: Node = try c.get()
          other.node.withLock { $0 = node }
        }
      }
      registerNode(container)
      let results = await onThreads(4) { index in
        if index.isMultiple(of: 2) { _ = try container.get(OtherKey()) }
        if !index.isMultiple(of: 2) { _ = try container.get(NodeKey()) }
      }
      for result in results { #expect(throws: Never.self) { try result.get() } }
      try expectOnePair(container)
    }
  }

  /// Its recipe suspends, and `then:` does not.
  @Test(arguments: [true, false])
  func anAsynchronousFactoryInTheCycleIsAlwaysAnError(nodeIsFirst: Bool) async {
    if nodeIsFirst { registerNode(container) }
    container.register { c async throws -> Other in Other(try await c.resolve(NodeKey())) }
    if !nodeIsFirst { registerNode(container) }
    let error = await injectionError { try await container.start() }
    #expect(error?.code == .circular)
    #expect(error?.path == ["Other", "Node", "Other"])
    #expect(error?.cure == "Set the links in `then:`, or after the objects exist.")
  }

  @Test(arguments: [true, false])
  func anAsynchronousObjectMayBeTheOneOfThen(nodeIsFirst: Bool) async throws {
    if !nodeIsFirst { registerOther(container) }
    container.register(make: { _ async in Node() }) { node, c in
      let other: Other = try c.get()
      node.peer.withLock { $0 = other.node.withLock { $0 } }
    }
    if nodeIsFirst { registerOther(container) }
    try await container.start()
    try expectOnePair(container)
  }

  @Test func theErrorOfTheObjectThatIsMadeFirstIsThrown() throws {
    let tries = Counter()
    registerOther(container)
    container.register(make: { _ in Node() }) { _, c in
      _ = try c.get(OtherKey())
      if tries.up() == 1 { throw Failure() }
    }
    #expect(throws: Failure.self) { try container.get(OtherKey()) }
    let other: Other = try container.get()
    #expect(try other.node.withLock { $0 } === container.get(NodeKey()))
  }
}
