// SPDX-License-Identifier: Apache-2.0
//
// What a store leaves when it goes on with another account, and what it must not wait for.

import Foundation
import Keepsake
import Synchronization
import TestSupport
import Testing

private final class Shared: CloudKeyValueStore, @unchecked Sendable {
  @Setting var number = 0
  @Setting var text = ""
}

@Suite(.serialized) struct AccountSwitchTests {
  private let folder: TemporaryFolder
  private let paths: [String]

  init() throws {
    let folder = try TemporaryFolder()
    self.folder = folder
    paths = (1...3).map { folder.path + "/account-\($0)" }
    for (index, path) in paths.enumerated() {
      let store = try Shared(on: Device(path: path))
      (store.number, store.text) = (index + 1, "\(index + 1)")
    }
  }

  /// `KEEPSAKE_SWITCHES` of them, under AddressSanitizer, is what proves that no read looks at a
  /// file that was closed.
  @Test func readsDuringSwitchesAreOfSomeAccountAndOnlyThePresentOneStaysOpen() throws {
    let environment = ProcessInfo.processInfo.environment["KEEPSAKE_SWITCHES"]
    let count = environment.flatMap(Int.init) ?? 300
    let store = try Shared(on: Device(path: paths[0]))
    let isOver = Atomic<Bool>(false)
    let group = DispatchGroup()
    for _ in 0..<4 {
      let reader = Thread {
        while !isOver.load(ordering: .relaxed) { expectAnAccount(store) }
        group.leave()
      }
      group.enter()
      reader.start()
    }
    for number in 1...count {
      try store.switchAccount(to: Device(path: paths[number % 3]))
      if number % 50 == 0 { #expect(store.number == number % 3 + 1) }
    }
    isOver.store(true, ordering: .relaxed)
    group.wait()
    #expect(store.errors.isEmpty)
    #expect(openFiles() == [paths[count % 3]])
  }

  @Test func aSwitchWithinATransactionIsRefusedAlsoWhileAnotherOneWaits() throws {
    let devices = try paths.map { try Device(path: $0) }
    let store = try Shared(on: devices[0])
    let other = DispatchGroup()
    try store.transaction {
      DispatchQueue.global().async(group: other) {
        #expect(throws: Never.self) { try store.switchAccount(to: devices[1]) }
      }
      // The other one begins to wait within these.
      for _ in 0..<2_000 {
        sched_yield()
        #expect(throws: KeepsakeError.self) { try store.switchAccount(to: devices[2]) }
      }
    }
    other.wait()
    #expect(store.number == 2)
  }

  /// Layers of a store on another device are reloaded when its transaction has ended.
  @Test(arguments: [false, true])
  func aSwitchWithinATransactionOfAnyDeviceIsRefused(isSnapshot: Bool) throws {
    let store = try Shared(on: Device(path: paths[0]))
    let next = try Device(path: paths[1])
    let third = try Device(path: paths[2], access: isSnapshot ? .readOnly : .existing)
    let error = #expect(throws: KeepsakeError.self) {
      try third.transaction { try store.switchAccount(to: next) }
    }
    #expect(error?.code == .locked && store.number == 1)
    try store.switchAccount(to: next)
    #expect(store.number == 2)
  }

  @Test func failuresOfUpkeepAreReportedToStoresThatAreOnTheDevice() throws {
    let (a, b) = (try Device(path: paths[0]), try Device(path: paths[1]))
    let (store, other) = (try Shared(on: a), try Shared(on: a))
    func failUpkeep() {
      for device in [a, b] {
        device.core.shared.upkeep.report(
          KeepsakeError(.diskFull, path: device.path, "the log grows", cure: "free some room"))
      }
    }
    func reported(_ store: Shared) -> [String] {
      store.errors.compactMap { ($0.cause as? KeepsakeError)?.path }
    }
    try store.switchAccount(to: b)
    failUpkeep()
    #expect(reported(store) == [b.path] && reported(other) == [a.path])
    #expect(throws: KeepsakeError.self) {
      try a.transaction { try store.switchAccount(to: a) }
    }
    failUpkeep()
    try store.switchAccount(to: a)
    failUpkeep()
    #expect(reported(store) == [b.path, b.path, a.path])
    #expect(reported(other) == [a.path, a.path, a.path])
  }

  @Test(.enabled(if: Tmpfs.isPossible, "only root can mount"))
  func aFailureToObserveTheNewAccountIsReportedOnceWithNothingLocked() throws {
    let seen = try Folder()
    try seen.makeFolder("seen")
    try seen.shell("mount", "--bind", folder.path, "seen")
    defer { #expect(throws: Never.self) { try seen.shell("umount", "--lazy", "seen") } }
    try seen.shell("mount", "-o", "remount,ro,bind", "seen")
    let a = try Device(path: paths[0])
    let b = try Device(path: seen.path + "/seen/account-2", access: .readOnly)
    try #require(!b.seesOthers)
    let store = try Shared(on: a)
    let tokens = (1...2).map { _ in store.observe { _ in } }
    let reported = Mutex<[SettingFailure.Operation]>([])
    let failures = store.observeFailures { failure in
      reported.withLock { $0.append(failure.operation) }
      let isFree = ends {
        for device in [a, b] { try device.core.access { _ in } }
        try store.switchAccount(to: b)
      }
      #expect(isFree)
    }
    try store.switchAccount(to: b)
    #expect(reported.withLock { $0 } == [.observe] && store.number == 2)
    failures.cancel()
    for token in tokens { token.cancel() }
  }

  private func expectAnAccount(_ store: Shared) {
    let (number, text, raw) = (store.number, store.text, store["number"])
    let isSome =
      (1...3).contains(number) && ["1", "2", "3"].contains(text) && [1, 2, 3].contains(raw)
    // Not at each reading, which would fill the memory.
    if !isSome { Issue.record("read \(number), \(text), \(String(describing: raw))") }
  }

  /// The databases of these tests that this process has open.
  private func openFiles() -> Set<String> {
    let descriptors = Result {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    }
    guard case .success(let names) = descriptors else { return [store(of: paths[0])] }
    let links = names.compactMap { name in
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
    }
    return Set(links.filter { $0.hasPrefix(folder.path + "/") }.map(store))
  }

  private func store(of file: String) -> String {
    ["-wal", "-shm"].reduce(file) { $0.hasSuffix($1) ? String($0.dropLast(4)) : $0 }
  }

  // MARK: - Waiting

  @Test func twoStoresMaySwitchInOppositeDirections() throws {
    let (a, b) = (try Device(path: paths[0]), try Device(path: paths[1]))
    let (one, two) = (try Shared(on: a), try Shared(on: b))
    let (hasA, hasB) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    // Each has its own account's file and lets the other go on with its one, if it can.
    let hooks = [
      try StatementHook(a, before: "ORDER BY store, key") { _ in
        hasA.signal()
        _ = hasB.wait(timeout: .now() + 0.5)
      },
      try StatementHook(b, before: "ORDER BY store, key") { _ in
        hasB.signal()
        _ = hasA.wait(timeout: .now() + 0.5)
      },
    ]
    try #require(
      ends {
        let thread = DispatchGroup()
        DispatchQueue.global().async(group: thread) {
          #expect(throws: Never.self) { try one.switchAccount(to: b) }
        }
        try two.switchAccount(to: a)
        thread.wait()
      })
    #expect((one.number, two.number) == (2, 1))
    #expect(hooks[0].wasRun && hooks[1].wasRun)
    for hook in hooks { try hook.remove() }
  }

  @Test func aSwitchTakesOneConnectionOfAFileThatHasTwoHandles() throws {
    let (a, b) = (try Device(path: paths[0]), try Device(path: paths[1]))
    let reader = try Device(path: paths[1], access: .readOnly)
    let store = try Shared(on: a)
    let heard = Heard()
    let token = store.observe { heard.append($0) }
    let (isWriting, isMoving) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let hook = try StatementHook(a, before: "ORDER BY store, key") { _ in isMoving.signal() }
    let isOver = ends {
      let thread = DispatchGroup()
      DispatchQueue.global().async(group: thread) {
        #expect(throws: Never.self) {
          try b.transaction {
            isWriting.signal()
            // The switch may need the connection that this thread has.
            _ = isMoving.wait(timeout: .now() + 0.5)
            for _ in 0..<1_000 { sched_yield() }
            let entry = try reader.entry(store: "cloud", key: "number")
            #expect(entry?.content.value == 2)
          }
        }
      }
      isWriting.wait()
      try store.switchAccount(to: reader)
      thread.wait()
    }
    try #require(isOver)
    #expect(hook.wasRun && store.number == 2)
    try Shared(on: b).number = 7
    #expect(heard.sets.map { $0.map(\.key) } == [["number", "text"], ["number"]])
    #expect(store.number == 7 && store.errors.isEmpty)
    token.cancel()
    try hook.remove()
  }

  @Test func aSwitchThatFailsDoesNotWaitForTheThreadThatHears() throws {
    let (a, b) = (try Device(path: paths[0]), try Device(path: paths[1]))
    let store = try Shared(on: a)
    let token = store.observe { _ in }
    let path = paths[1]
    let hook = try StatementHook(b, before: "key >= ?2 ORDER BY store, key") { interrupt in
      // Another process commits, and the thread that hears of it waits for this connection.
      let sql = "UPDATE entry SET hlc = hlc + 1, lseq = lseq + 10 WHERE key = 'text'"
      let ending = Result { try Command.run(Command.find("sqlite3"), [path, sql]) }
      if case .success(let ending) = ending, ending.code == 0 {} else { Issue.record("\(ending)") }
      while !b.core.shared.isLookingForCommits { sched_yield() }
      interrupt()
    }
    try #require(
      ends {
        #expect(throws: KeepsakeError.self) { try store.switchAccount(to: b) }
      })
    #expect(hook.wasRun && store.number == 1)
    try hook.remove()
    token.cancel()
  }
}
