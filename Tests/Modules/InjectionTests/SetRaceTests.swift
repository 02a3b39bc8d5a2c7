// SPDX-License-Identifier: Apache-2.0

import KeepsakeInjection
import Synchronization
import Testing

/// Sets beside other sets, and sets in cycles.
@Suite(.timeLimit(hang)) struct SetRaceTests {
  // Sendable: used by one thread at a time.
  private final class Screen: Injectable, @unchecked Sendable {
    @Injected var api: any API
    func didInject() {}
  }

  /// An object from outside that `then:` completes.
  private final class Slot: Sendable {
    let node = Mutex<Node?>(nil)
  }

  @Test func aSetThatWaitsForOneThatFailsIsKept() async throws {
    let (isWired, isWaiting) = (Latch(), Latch())
    let container = Container { c in
      c.register { _ -> any API in
        isWired.open()
        isWaiting.waitAWhile()
        throw Failure()
      }
    }
    let kept = Screen()
    kept.api = MockAPI()
    let results = await onThreads(2) { index in
      if index == 0 { return try container.set(Screen()) }
      isWired.wait()
      try container.set(kept)
      isWaiting.open()
    }
    #expect(throws: Failure.self) { try results[0].get() }
    #expect(throws: Never.self) { try results[1].get() }
    #expect(try container.get(Container.Key<Screen>()) === kept)
  }

  @Test func aSetIsKeptBesideOthersThatFail() async throws {
    for _ in 0..<200 {
      let container = Container()
      let kept = Screen()
      kept.api = MockAPI()
      let results = await onThreads(2) { index in
        if index == 1 { return try container.set(kept) }
        for _ in 0..<20 {
          do { try container.set(Screen()) } catch is InjectionError {}  // Nothing is registered.
        }
      }
      #expect(throws: Never.self) { try results[1].get() }
      #expect(try container.get(Container.Key<Screen>()) === kept)
    }
  }

  @Test func aSetInAChildIsKeptOrThrowsWhereTheParentRemovesTheKey() async throws {
    for _ in 0..<500 {
      let parent = Container()
      try parent.set(5)
      let child = parent.child()
      let results = await onThreads(2) { index in
        if index == 0 { try parent.set(nil, for: Container.Key<Int>()) }
        if index == 1 { try child.set(7) }
      }
      if case .failure = results[1] {
        #expect(results[1].injectionError?.code == .missing)
      } else {
        #expect(try child.get(Container.Key<Int>()) == 7)
      }
    }
  }

  /// A node that another object needs whose recipe sets a slot, which refers to the node.
  private func cycle(_ tries: Counter) -> Container {
    Container { c in
      c.register(make: { _ in Node() }) { _, c in
        _ = try c.get(Container.Key<Other>())
        if tries.up() == 1 { throw Failure() }
      }
      c.register { c -> Other in
        try c.set(Slot())
        return Other()
      }
      c.register(make: { _ in Slot() }) { slot, c in
        let node: Node = try c.get()
        slot.node.withLock { $0 = node }
      }
    }
  }

  @Test func anObjectThatWasSetRefersToNoNodeThatIsDiscarded() throws {
    let container = cycle(Counter())
    #expect(throws: Failure.self) { try container.get(Container.Key<Node>()) }
    let node: Node = try container.get()
    #expect(try container.get(Container.Key<Slot>()).node.withLock { $0 } === node)
  }

  @Test func anObjectThatWasSetInACycleIsPublishedWithIt() throws {
    let tries = Counter()
    tries.up()
    let container = cycle(tries)
    let node: Node = try container.get()
    #expect(container.description.contains("Slot: singleton, set"))
    #expect(try container.get(Container.Key<Slot>()).node.withLock { $0 } === node)
  }

  @Test func aSetOnAnotherThreadRefersToNoNodeThatIsDiscarded() async throws {
    for _ in 0..<50 {
      let (isWired, isSetting, tries) = (Latch(), Latch(), Counter())
      let container = Container { c in
        c.register(make: { _ in Node() }) { _, c in
          isWired.open()
          isSetting.wait()
          _ = try c.get(Container.Key<Slot>())
          if tries.up() == 1 { throw Failure() }
        }
        c.register(make: { _ in Slot() }) { slot, c in
          isSetting.open()
          let node: Node = try c.get()
          slot.node.withLock { $0 = node }
        }
      }
      let set = Slot()
      let results = await onThreads(2) { index in
        if index == 0 { _ = try container.get(Container.Key<Node>()) }
        if index == 1 {
          isWired.wait()
          try container.set(set)
        }
      }
      #expect(throws: Failure.self) { try results[0].get() }
      let node: Node = try container.get()
      let slot: Slot = try container.get()
      #expect(slot.node.withLock { $0 } === node)
      if case .success = results[1] {
        #expect(slot === set)
      } else {
        #expect(results[1].injectionError?.code == .circular)
        #expect(slot !== set)
      }
    }
  }
}
