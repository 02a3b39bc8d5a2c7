// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeepsakeInjection
import Synchronization
import Testing

/// A singleton that a lookup has returned is the only one, also where objects that it was made with
/// fail.
@Suite(.timeLimit(hang)) struct PublicationTests {
  /// Refers to another object of the cycle.
  private final class Third: Sendable {
    let other: Other
    init(_ other: Other) { self.other = other }
  }

  private final class View: Sendable {
    let node: Node
    init(_ node: Node) { self.node = node }
  }

  /// A node whose `then:` runs `body`, and others that need it in their factories.
  private func cycle(_ body: @escaping @Sendable (Container) throws -> Void) -> Container {
    Container { c in
      c.register(make: { _ in Node() }) { _, c in try body(c) }
        .as(Container.Key<View>()) { View($0) }
      c.register { c in Other(try c.get(NodeKey())) }
      c.register { c in Third(try c.get(OtherKey())) }
    }
  }

  private func expectOneOfEach(_ container: Container) throws {
    let (node, other, third): (Node, Other, Third) = try (
      container.get(), container.get(), container.get()
    )
    #expect(other.node.withLock { $0 } === node)
    #expect(third.other === other)
  }

  @Test func noOtherThreadGetsAnObjectMadeWithOneThatFails() async throws {
    let (tries, isMade, hasReturned) = (Counter(), Latch(), Latch())
    let container = cycle { c in
      _ = try c.get(OtherKey())
      guard tries.up() == 1 else { return }
      isMade.open()
      hasReturned.waitAWhile()
      throw Failure()
    }
    let results = await onThreads(2) { index -> Other? in
      if index == 0 {
        _ = try container.get(NodeKey())
        return nil
      }
      isMade.wait()
      defer { hasReturned.open() }
      return try container.get(OtherKey())
    }
    #expect(throws: Failure.self) { try results[0].get() }
    #expect(try results[1].get() === container.get(OtherKey()))
    try expectOneOfEach(container)
  }

  @Test func noOtherThreadWaitsForLongerThanTheCycleTakes() async throws {
    let isMade = Latch()
    let container = cycle { c in
      _ = try c.get(OtherKey())
      isMade.open()
    }
    let results = await onThreads(2) { index -> Other in
      if index == 1 { isMade.wait() }
      if index == 0 { _ = try container.get(NodeKey()) }
      return try container.get(OtherKey())
    }
    #expect(try results[0].get() === results[1].get())
    try expectOneOfEach(container)
  }

  /// The first try uses two early objects, of which one fails; the second try uses none.
  @Test func aFailureDiscardsOnlyWhatWasMadeWithTheObject() throws {
    let tries = Counter()
    let kept = Mutex<Third?>(nil)
    let container = Container { c in
      c.register(Container.Key<Node>("outer"), make: { _ in Node() }) { _, c in
        #expect(throws: Failure.self) { try c.get(Container.Key<Node>("inner")) }
        let third: Third = try c.get()
        kept.withLock { $0 = third }
        throw Failure()
      }
      c.register(Container.Key<Node>("inner"), make: { _ in Node() }) { _, c in
        _ = try c.get(Container.Key<Third>())
        throw Failure()
      }
      c.register { c -> Third in
        if tries.up() > 1 { return Third(Other()) }
        _ = try c.get(Container.Key<Node>("outer"))
        return Third(Other(try c.get(Container.Key<Node>("inner"))))
      }
    }
    #expect(throws: Failure.self) { try container.get(Container.Key<Node>("outer")) }
    #expect(try container.get(Container.Key<Third>()) === kept.withLock { $0 })
    #expect(tries.value == 2)
  }

  @Test func anObjectMadeWithOneThatIsDiscardedIsMadeAgainToo() throws {
    let tries = Counter()
    let container = cycle { c in
      _ = try c.get(Container.Key<Third>())
      if tries.up() == 1 { throw Failure() }
    }
    #expect(throws: Failure.self) { try container.get(NodeKey()) }
    try expectOneOfEach(container)
  }

  @Test func anEarlyObjectOfAnObjectThatIsDiscardedIsNotKeptEither() throws {
    let tries = Counter()
    let container = Container { c in
      c.register(make: { _ in Node() }) { _, c in
        _ = try c.get(OtherKey())
        if tries.up() == 1 { throw Failure() }
      }
      // The third uses the other while that is wired, and the other uses the node.
      c.register(make: { c in Other(try c.get(NodeKey())) }) { _, c in
        _ = try c.get(Container.Key<Third>())
      }
      c.register { c in Third(try c.get(OtherKey())) }
    }
    #expect(throws: Failure.self) { try container.get(NodeKey()) }
    try expectOneOfEach(container)
  }

  @Test func whatAnotherThreadMadeWithAnObjectThatFailsIsMadeAgain() async throws {
    let (tries, isWired, isTaken) = (Counter(), Latch(), Latch())
    let container = Container { c in
      c.register(make: { _ in Node() }) { _, c in
        isWired.open()
        isTaken.wait()
        _ = try c.get(OtherKey())
        if tries.up() == 1 { throw Failure() }
      }
      c.register { c -> Other in
        isTaken.open()
        return Other(try c.get(NodeKey()))
      }
      c.register { c in Third(try c.get(OtherKey())) }
    }
    let results = await onThreads(2) { index -> Third? in
      if index == 0 {
        _ = try container.get(NodeKey())
        return nil
      }
      isWired.wait()
      return try container.get(Container.Key<Third>())
    }
    #expect(throws: Failure.self) { try results[0].get() }
    #expect(try results[1].get() === container.get(Container.Key<Third>()))
    try expectOneOfEach(container)
  }

  @Test func aSetDuringItsWiringDiscardsWhatWasMadeWithTheObject() throws {
    let (set, tries) = (Node(), Counter())
    let container = cycle { c in
      guard tries.up() == 1 else { return }
      _ = try c.get(Container.Key<Third>())
      try c.set(set)
    }
    #expect(try container.get(NodeKey()) === set)
    try expectOneOfEach(container)
  }

  @Test func anAliasIsOneObjectDuringTheConstructionAndThereafter() throws {
    let early = Mutex<View?>(nil)
    let container = cycle { c in
      let view: View = try c.get()
      early.withLock { $0 = $0 ?? view }
    }
    let node: Node = try container.get()
    #expect(try container.get(Container.Key<View>()) === early.withLock { $0 })
    try container.set(Node())
    #expect(try container.get(Container.Key<View>()).node !== node)
    try container.set(nil, for: NodeKey())
    #expect(try container.get(Container.Key<View>()) === early.withLock { $0 })
  }

  @Test func anAliasOfAnObjectThatFailedIsReleased() throws {
    weak var gone: View?
    let tries = Counter()
    let seen = Mutex<View?>(nil)
    let container = cycle { c in
      let view: View = try c.get()
      seen.withLock { $0 = view }
      if tries.up() == 1 { throw Failure() }
    }
    #expect(throws: Failure.self) { try container.get(NodeKey()) }
    gone = seen.withLock { $0 }
    #expect(gone != nil)
    seen.withLock { $0 = nil }
    #expect(gone == nil)
  }

  /// Threads look up all objects of a cycle while its construction fails at different places.
  /// Whatever they get is the same to the end.
  @Test func threadsNeverGetTwoObjectsOfOneKey() async throws {
    for round in 0..<100 {
      let (steps, fails) = (Counter(), round % 7 + 1)
      let step: @Sendable () throws -> Void = {
        let number = steps.up()
        if number <= 3 * fails, number.isMultiple(of: fails) { throw Failure() }
      }
      let container = Container { c in
        c.register(make: { _ in Node() }) { _, c in
          try step()
          _ = try c.get(Container.Key<Third>())
          try step()
        }
        c.register(make: { c in Other(try c.get(NodeKey())) }) { _, c in
          try step()
          _ = try c.get(Container.Key<Third>())
          try step()
        }
        c.register { c -> Third in
          try step()
          return Third(try c.get(OtherKey()))
        }
      }
      let found = await onThreads(4) { index in
        var nodes: [Node] = [], others: [Other] = [], thirds: [Third] = []
        for turn in 0..<12 {
          do {
            switch (index + turn) % 3 {
            case 0: nodes.append(try container.get())
            case 1: others.append(try container.get())
            default: thirds.append(try container.get())
            }
          } catch {}  // The next turn tries again.
        }
        return (nodes, others, thirds)
      }
      while steps.value <= 3 * fails { steps.up() }
      try expectOneOfEach(container)
      let (node, other, third): (Node, Other, Third) = try (
        container.get(), container.get(), container.get()
      )
      for result in found {
        let (nodes, others, thirds) = try result.get()
        #expect(nodes.allSatisfy { $0 === node })
        #expect(others.allSatisfy { $0 === other })
        #expect(thirds.allSatisfy { $0 === third })
      }
    }
  }
}
