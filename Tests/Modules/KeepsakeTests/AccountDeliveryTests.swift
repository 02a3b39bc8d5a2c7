// SPDX-License-Identifier: Apache-2.0
//
// After a switch of the account nothing that was written for the old one is delivered, and each
// observer knows what the new one has.

import Foundation
import Keepsake
import KeepsakeValues
import Synchronization
import TestSupport
import Testing

private final class Shared: CloudKeyValueStore, @unchecked Sendable {
  @Setting var number = 0
}

/// An observer that stays in its first call until it is let go.
private final class SlowObserver: Sendable {
  private let entered = DispatchSemaphore(value: 0)
  private let gate = DispatchSemaphore(value: 0)
  private let wasCalled = Atomic<Bool>(false)
  private let calls = Atomic(0)
  private let isShared = Atomic<Bool>(false)
  let heard = Heard()

  func hear(_ changes: [SettingChange]) {
    if calls.add(1, ordering: .relaxed).newValue > 1 { isShared.store(true, ordering: .relaxed) }
    if !wasCalled.exchange(true, ordering: .relaxed) {
      entered.signal()
      gate.wait()
    }
    heard.append(changes)
    calls.subtract(1, ordering: .relaxed)
  }

  /// Whether two threads were in it at once.
  var wasShared: Bool { isShared.load(ordering: .relaxed) }

  func waitForCall() { entered.wait() }
  func letGo() { gate.signal() }
}

extension Heard {
  /// The value before and the one after, of each change.
  fileprivate var steps: [[StoredValue?]] { sets.flatMap { $0.map { [$0.old, $0.new] } } }
}

@Suite struct AccountDeliveryTests {
  private let (a, b, c): (Device, Device, Device)
  private let store: Shared
  private let slow = SlowObserver()
  private let heard = Heard()
  private let writer = DispatchGroup()

  init() throws {
    (a, b, c) = (try Device.inMemory(), try Device.temporary(), try Device.inMemory())
    for (number, device) in [a, b, c].enumerated() { try Shared(on: device).number = number + 1 }
    store = try Shared(on: a)
  }

  /// Writes on another thread, whose commit is being announced when this returns.
  private func write(_ number: Int) {
    DispatchQueue.global().async(group: writer) { [store] in store.number = number }
    slow.waitForCall()
  }

  private func letGo() {
    slow.letGo()
    writer.wait()
  }

  @Test func aCommitThatIsBeingAnnouncedIsNotHeardOfAfterASwitch() throws {
    let tokens = [
      store.observe { [slow] in slow.hear($0) }, store.observe { [heard] in heard.append($0) },
    ]
    write(5)
    try store.switchAccount(to: b)
    #expect(heard.steps == [[1, 2]])
    letGo()
    #expect(heard.steps == [[1, 2]] && heard.sets.allSatisfy { $0[0].reason == .account })
    store.number = 6
    #expect(heard.steps == [[1, 2], [2, 6]])
    #expect(slow.heard.steps == [[1, 5], [5, 2], [2, 6]])
    #expect(!slow.wasShared)
    for token in tokens { token.cancel() }
    #expect(!a.hasObservers && !b.hasObservers)
  }

  @Test func whatBothAccountsHaveIsHeardByAnObserverThatDidNotKnowIt() throws {
    try Shared(on: b).number = 5
    let tokens = [
      store.observe { [slow] in slow.hear($0) }, store.observe { [heard] in heard.append($0) },
    ]
    write(5)
    try store.switchAccount(to: b)
    #expect(heard.steps == [[1, 5]] && heard.sets[0][0].reason == .account)
    letGo()
    #expect(heard.steps == [[1, 5]] && slow.heard.steps == [[1, 5]])
    withExtendedLifetime(tokens) {}
  }

  @Test func anObserverThatIsBusyOverTwoSwitchesHearsOfTheLastAlone() throws {
    let tokens = [
      store.observe { [slow] in slow.hear($0) }, store.observe { [heard] in heard.append($0) },
    ]
    write(5)
    try store.switchAccount(to: b)
    store.number = 6
    try store.switchAccount(to: c)
    store.number = 7
    #expect(heard.steps == [[1, 2], [2, 6], [6, 3], [3, 7]])
    try store.switchAccount(to: a)
    #expect(heard.steps.last == [7, 5])
    letGo()
    #expect(slow.heard.steps == [[1, 5]] && heard.steps.count == 5)
    #expect(!slow.wasShared)
    withExtendedLifetime(tokens) {}
  }

  /// The commit may have been noticed already, or not.
  @Test func aCommitOfAnotherProcessBeforeASwitchIsHeardOfOnce() throws {
    let path = b.path
    try store.switchAccount(to: b)
    for round in 0..<10 {
      let heard = Heard()
      let token = store.observe { heard.append($0) }
      let sql = """
        UPDATE entry SET value = \(10 + round), lseq = (SELECT max(lseq) + 1 FROM entry)
        WHERE key = 'number'
        """
      // The thread that watches others has to wait for the connection.
      try b.core.access { _ in
        let ending = try Command.run(Command.find("sqlite3"), [path, sql])
        try #require(ending.code == 0, "\(ending)")
      }
      try store.switchAccount(to: a)
      #expect(heard.wait { $0.last?.new == 1 })
      try store.switchAccount(to: b)
      let steps = heard.steps
      #expect(steps.first?[0] == (round == 0 ? 2 : .integer(Int64(9 + round))))
      #expect(zip(steps, steps.dropFirst()).allSatisfy { $0[1] == $1[0] }, "\(steps)")
      #expect(steps.last?[1] == .integer(Int64(10 + round)))
      token.cancel()
    }
  }

  @MainActor @Test func whatWasNotReadYetOfTheOldAccountIsNotReadAfterASwitch() async throws {
    let (done, finish) = AsyncStream<Void>.makeStream()
    let onMain = Heard()
    let token = store.observe(on: MainActor.self) {
      onMain.append($0)
      if $0[0].new == 6 { finish.finish() }
    }
    let changes = store.changes()
    store.number = 5
    try store.switchAccount(to: b)
    store.number = 6
    for await _ in done {}
    var sets = changes.makeAsyncIterator()
    let heard = Heard()
    for _ in 0..<2 { heard.append(await sets.next() ?? []) }
    for heard in [onMain, heard] {
      #expect(heard.steps == [[1, 2], [2, 6]])
      #expect(heard.sets.map { $0.map(\.reason) } == [[.account], [.local]])
    }
    token.cancel()
  }

  @Test func aSequenceThatIsFinishedEndsWithWhatWasNotReadYetOfTheNewAccount() async throws {
    let changes = store.changes()
    store.number = 5
    changes.finish()
    store.number = 6
    try store.switchAccount(to: b)
    store.number = 7
    let heard = Heard()
    for await set in changes { heard.append(set) }
    #expect(heard.steps == [[1, 2]] && !a.hasObservers && !b.hasObservers)
  }

  @Test func anObserverMaySwitchTheAccount() throws {
    let token = store.observe { [store, heard, b] changes in
      heard.append(changes)
      #expect(throws: Never.self) { try store.switchAccount(to: b) }
      // It is called again when it has returned.
      if changes[0].reason == .local { #expect(heard.sets.count == 1 && store.number == 2) }
    }
    store.number = 5
    #expect(heard.steps == [[1, 5], [5, 2]])
    token.cancel()
  }

  /// A reader may take the state of the one device and, when the store has moved, the value of the
  /// other: it must not be believed when the store is back.
  @Test func whatWasKnownOfADeviceIsNotCurrentOnceTheStoreHasLeftIt() throws {
    let known = KnownValues()
    let state = try #require(store.backing.state)
    known.keep([(ByteText("number"), 1)], as: state)
    #expect(known.read("number") { .some($0) } == .some(1))
    for device in [b, a] {
      try store.switchAccount(to: device)
      #expect(known.read("number") { .some($0) } == nil)
    }
  }

  @MainActor @Test func whatMeetsAWaitingReaderIsNotReadOnceItsActorHasSwitched() async throws {
    for _ in 0..<20 {
      try store.switchAccount(to: a)
      store.number = 1
      let changes = store.changes()
      let (waiting, wait) = AsyncStream<Void>.makeStream()
      let reader = Task {
        var sets = changes.makeAsyncIterator()
        wait.finish()
        return await sets.next(isolation: #isolation)
      }
      for await _ in waiting {}
      await Task.yield()
      // No other task runs on this actor meanwhile.
      store.number = 5
      for _ in 0..<2_000 { sched_yield() }
      try store.switchAccount(to: b)
      let set = await reader.value
      #expect(set?.map(\.reason) == [.account])
    }
  }

  /// What an observer holds may switch the account too.
  @Test func whatGoesWithAnObserverDuringASwitchGoesWhenNothingIsLocked() throws {
    final class Screen: Sendable {
      let store: Shared
      let home: Device
      init(_ store: Shared, _ home: Device) { (self.store, self.home) = (store, home) }
      deinit { #expect(throws: Never.self) { try store.switchAccount(to: home) } }
    }
    let (store, a, c) = (store, a, c)
    let token = Mutex<ObservationToken?>(nil)
    func observe() {
      let screen = Screen(store, a)
      let new = store.observe { _ in withExtendedLifetime(screen) {} }
      token.withLock { $0 = new }
    }
    observe()
    let hook = try StatementHook(c, before: "ORDER BY store, key") { _ in
      token.withLock { $0.take() }?.cancel()
    }
    try #require(ends { try store.switchAccount(to: c) })
    #expect(hook.wasRun && store.device === a)
    try hook.remove()
  }
}
