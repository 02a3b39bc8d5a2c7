// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection
import Synchronization
import Testing

/// Cycles of properties that several threads run into, and constructions that fail half-way.
@Suite(.timeLimit(hang)) struct RingTests {
  private let container = Container()

  @Test func aThreadThatWaitsTakesTheEarlyObjectWhenAnotherWouldCloseTheRing() async throws {
    let (nodeIsWired, otherIsMade) = (Latch(), Latch())
    container.register(make: { _ in Node() }) { node, c in
      nodeIsWired.open()
      otherIsMade.wait()
      let other: Other = try c.get()
      node.peer.withLock { $0 = other.node.withLock { $0 } }
    }
    container.register { c -> Other in
      otherIsMade.open()
      return Other(try c.get(NodeKey()))
    }
    let results = await onThreads(2) { index in
      if index == 0 { _ = try container.get(NodeKey()) }
      if index == 1 {
        nodeIsWired.wait()
        _ = try container.get(OtherKey())
      }
    }
    for result in results { #expect(throws: Never.self) { try result.get() } }
    let node: Node = try container.get()
    #expect(node.peer.withLock { $0 } === node)
    #expect(try container.get(OtherKey()).node.withLock { $0 } === node)
  }

  @Test func aRingOfManyWaitersIsFoundAtOnce() async {
    // Each of n factories asks for all the others: the ways through the waiters are n! many.
    let (container, count) = (Container(), 12)
    let latches = (0..<count).map { _ in Latch() }
    for index in 0..<count {
      container.register(Container.Key<Int>("\(index)")) { c in
        latches[index].open()
        latches.forEach { $0.wait() }
        return try (1..<count).reduce(0) {
          try $0 + c.get(Container.Key<Int>("\((index + $1) % count)"))
        }
      }
    }
    let results = await onThreads(count) { try container.get(Container.Key<Int>("\($0)")) }
    for result in results { #expect(result.injectionError?.code == .circular) }
  }

  @Test func aTaskThatOutlivesAConstructionIsNoPartOfIt() async throws {
    let made = Latch()
    let found = Mutex<[Task<Bool, any Error>]>([])
    container.register(scope: .transient) { c -> RealAPI in RealAPI(host: "dependency") }
    container.register { c -> Told in
      Told {
        let task = Task {
          await made.yieldUntilOpen()
          let isOne = try c.get(Container.Key<Told>()) === c.get(Container.Key<Told>())
          return try isOne && c.get(Container.Key<RealAPI>()).host == "dependency"
        }
        found.withLock { $0.append(task) }
      }
    }
    _ = try container.get(Container.Key<Told>())
    made.open()
    for task in found.withLock({ $0 }) { #expect(try await task.value) }
  }

  @Test func aTaskOfATransientMayAskForAnotherOfItsKind() async throws {
    let made = Latch()
    let tasks = Mutex<[Task<Int, any Error>]>([])
    let count = Counter()
    container.register(scope: .transient) { c -> Int in
      let number = count.up()
      if number == 1 {
        let task = Task {
          await made.yieldUntilOpen()
          return try c.get(Container.Key<Int>())
        }
        tasks.withLock { $0.append(task) }
      }
      return number
    }
    #expect(try container.get(Container.Key<Int>()) == 1)
    made.open()
    for task in tasks.withLock({ $0 }) { #expect(try await task.value == 2) }
  }

  @Test func whatAChildThatIsGoneMadeWithAnObjectThatFailedIsNoCrash() {
    container.register(make: { _ in Node() }) { _, c in
      let child = c.child()
      child.register { c in Other(try c.get(NodeKey())) }
      _ = try child.get(OtherKey())
      throw Failure()
    }
    #expect(throws: Failure.self) { _ = try container.get(NodeKey()) }
  }

  @Test func aSingletonThatOnlyHelpedToMakeWhatFailedStays() throws {
    let tries = Counter()
    container.register(make: { _ in Node() }) { _, c in
      _ = try c.make(OtherKey())
      if tries.up() == 2 { throw Failure() }
    }
    container.register { c in Other(try c.get(NodeKey())) }
    let other: Other = try container.get()
    #expect(throws: Failure.self) { _ = try container.make(NodeKey()) }
    #expect(try container.get(OtherKey()) === other)
  }
}
