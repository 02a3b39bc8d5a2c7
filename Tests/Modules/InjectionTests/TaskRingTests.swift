// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection
import Synchronization
import Testing

/// Tasks that a factory starts, and what becomes of them when it is over or fails.
@Suite(.timeLimit(hang)) struct TaskRingTests {
  private let container = Container()

  @Test func aTaskThatOutlivesItsFactoryIsStillPartOfTheFactoryAroundIt() async {
    let task = Mutex<Task<Node, any Error>?>(nil)
    container.register { c -> Other in
      let ended = Latch()
      task.withLock {
        $0 = Task {
          await ended.yieldUntilOpen()
          return try await c.resolve(NodeKey())
        }
      }
      defer { ended.open() }
      return Other()
    }
    container.register { c async throws -> Node in
      _ = try c.get(OtherKey())
      return try await task.withLock { $0 }?.value ?? Node()
    }
    let error = await injectionError { _ = try await container.resolve(NodeKey()) }
    #expect(error?.code == .circular)
  }

  @Test func aRingThroughAConstructionThatIsOverIsAnError() async {
    final class Third: Sendable {}
    let (begun, isOver) = (Latch(), Latch())
    let task = Mutex<Task<Other, any Error>?>(nil)
    container.register { c -> Third in
      task.withLock { $0 = Task { try c.get(OtherKey()) } }
      begun.wait()
      return Third()
    }
    container.register { c -> Other in
      begun.open()
      isOver.wait()
      return Other(try c.get(NodeKey()))
    }
    container.register { c async throws -> Node in
      _ = try c.get(Container.Key<Third>())
      isOver.open()
      _ = try await task.withLock { $0 }?.value
      return Node()
    }
    let error = await injectionError { _ = try await container.resolve(NodeKey()) }
    #expect(error?.code == .circular)
  }

  @Test func whatIsStillBeingMadeWithAnObjectThatFailedIsMadeAgain() async throws {
    let (took, failed) = (Latch(), Latch())
    let tries = Counter()
    let task = Mutex<Task<Other, any Error>?>(nil)
    container.register(make: { _ in Node() }) { _, c in
      if tries.up() > 1 { return }
      task.withLock { $0 = Task { try c.get(OtherKey()) } }
      took.wait()
      throw Failure()
    }
    container.register { c -> Other in
      let node: Node = try c.get()
      took.open()
      failed.wait()
      return Other(node)
    }
    let results = await onThreads(1) { _ in
      defer { failed.open() }
      _ = try container.get(NodeKey())
    }
    #expect(throws: Failure.self) { try results[0].get() }
    let other = try #require(try await task.withLock { $0 }?.value)
    #expect(try other.node.withLock { $0 } === container.get(NodeKey()))
    #expect(try container.get(OtherKey()) === other)
  }

  @Test func aTransientThatIsFinishedIsNoPartOfItsTask() async throws {
    let (begun, made) = (Latch(), Latch())
    let task = Mutex<Task<Other, any Error>?>(nil)
    container.register(scope: .transient) { c -> Node in
      task.withLock { if $0 == nil { $0 = Task { try c.get(OtherKey()) } } }
      begun.wait()
      return Node()
    }
    container.register { c -> Other in
      begun.open()
      made.wait()
      return Other(try c.get(NodeKey()))
    }
    let results = await onThreads(1) { _ in
      defer { made.open() }
      _ = try container.get(NodeKey())
    }
    #expect(throws: Never.self) { try results[0].get() }
    await #expect(throws: Never.self) { try await task.withLock { $0 }?.value }
  }
}
