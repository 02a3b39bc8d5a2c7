// SPDX-License-Identifier: Apache-2.0
//
// Observers that come and go, on several handles and threads, beside writes.

import Foundation
import Keepsake
import Synchronization
import TestSupport
import Testing

private final class Local: UserDefaultsStore, @unchecked Sendable {
  @Setting var count = 0
}

@Suite(.serialized) struct ObserverLifeTests {
  private let device: Device
  private let heard = Heard()

  init() throws { device = try Device.temporary() }

  private func setElsewhere(_ value: String, _ path: String? = nil) throws {
    try kvsync("set", path ?? device.path, "a", value, "--store", "defaults")
  }

  @Test func theHandleOfTheFirstObserverMayGo() throws {
    let store = try Local(on: device)
    let token = try {
      let reader = try Device(path: device.path, access: .readOnly)
      let first = Heard().observe(reader)
      let token = store.observe { [heard] in heard.append($0) }
      try setElsewhere("1")
      #expect(heard.wait { $0.count == 1 })
      first.cancel()
      return token
    }()
    try setElsewhere("2")
    #expect(heard.wait { $0.count == 2 })
    token.cancel()
  }

  @Test func anObserverKeepsNoStoreAndHearsUntilItsTokenGoes() throws {
    weak var gone: Local?
    var token: ObservationToken?
    do {
      let store = try Local(on: device)
      gone = store
      token = store.observe { [heard] in heard.append($0) }
      _ = store.changes()
    }
    #expect(gone == nil)
    let store = try Local(on: device)
    store.count = 1
    #expect(heard.sets.count == 1)
    withExtendedLifetime(token) {}
    token = nil
    store.count = 2
    #expect(heard.sets.count == 1 && !device.hasObservers)
  }

  @Test func anObserverThatAnotherOneEndsIsNotCalledAnyMore() throws {
    let store = try Local(on: device)
    let second = Mutex<ObservationToken?>(nil)
    let first = store.observe { _ in second.withLock { $0 }?.cancel() }
    second.withLock { $0 = store.observe { [heard] in heard.append($0) } }
    store.count = 1
    #expect(heard.sets.isEmpty)
    first.cancel()
  }

  @Test func failuresOfUpkeepAreReportedToTheStoresOfTheDevice() throws {
    let stores = [try Local(on: device), try Local(on: device), try Local(on: .temporary())]
    device.shared.upkeep.notify(
      KeepsakeError(.diskFull, path: device.path, "the log grows", cure: "free some room"))
    #expect(stores.map(\.failures.count) == [1, 1, 0])
    #expect(stores[0].failures.first?.operation == .checkpoint)
  }

  /// The thread that hears of others has its turn meanwhile, and waits for the transaction.
  @Test func theLastObserverMayGoInATransactionOfAnotherHandle() throws {
    let reader = try Device(path: device.path, access: .readOnly)
    let isOver = ends { [device] in
      let (one, two) = (Heard().observe(device), Heard().observe(reader))
      one.cancel()
      try device.transaction {
        device.shared.waitForCheck()
        two.cancel()
      }
    }
    #expect(isOver)
  }

  @Test func observersOfAReadOnlyHandleBesideWritesChangeNothingForOthers() throws {
    let reader = try Device(path: device.path, access: .readOnly)
    let store = try Local(on: device)
    let token = store.observe { heard.append($0) }
    let isOver = Atomic<Bool>(false)
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      while !isOver.load(ordering: .relaxed) { Heard().observe(reader).cancel() }
      done.signal()
    }
    for number in 1...2000 { store.count = number }
    isOver.store(true, ordering: .relaxed)
    done.wait()
    token.cancel()
    let changes = heard.sets.flatMap { $0 }
    #expect(changes.map(\.new) == (1...2000).map { .integer($0) })
    #expect(changes.allSatisfy { $0.process == .this })
    #expect(zip(changes, changes.dropFirst()).allSatisfy { $0.new == $1.old })
  }

  @Test(arguments: [false, true])
  func anObserverThatBeginsInATransactionIsNotNotifiedOfIt(other: Bool) throws {
    let store = try Local(on: device)
    let token = other ? store.observe { _ in } : nil
    var late: ObservationToken?
    try store.transaction {
      store.count = 1
      late = store.observe { heard.append($0) }
    }
    #expect(heard.sets.isEmpty)
    store.count = 2
    #expect(heard.sets.map { $0.map(\.old) } == [[1]])
    token?.cancel()
    late?.cancel()
  }

  /// The connection is in use until the other process has committed.
  @Test(arguments: [false, true], [Device.Access.create, .readOnly])
  func anObserverThatBeginsInATransactionHearsOfLaterCommits(
    other: Bool, access: Device.Access
  ) throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/device.keepsake"
    try Local(on: Device(path: path))["a"] = "0"
    // This process has no other handle.
    let device = try Device(path: path, access: access)
    let token = other ? Heard().observe(device) : nil
    var late: ObservationToken?
    struct Undone: Error {}
    try device.tables.access { _ in
      #expect(throws: Undone.self) {
        try device.transaction {
          if access == .create {
            try device.write([LocalWrite(store: "defaults", key: "a", value: "undone")])
          }
          late = heard.observe(device)
          if access == .readOnly { try setElsewhere("1", path) }
          throw Undone()
        }
      }
      if access == .create { try setElsewhere("1", path) }
    }
    #expect(heard.wait { $0.last?.new == "1" })
    #expect(heard.sets.flatMap { $0.map(\.old) } == ["0"])
    token?.cancel()
    late?.cancel()
  }

  @Test func lastObserversMayGoInTransactionsOfEachOthersDevices() throws {
    let devices = [device, try Device.temporary()]
    let isOver = ends {
      let tokens = devices.map { Heard().observe($0) }
      let (both, threads) = (DispatchGroup(), DispatchGroup())
      for _ in devices { both.enter() }
      for (place, device) in devices.enumerated() {
        DispatchQueue.global().async(group: threads) {
          #expect(throws: Never.self) {
            try device.transaction {
              both.leave()
              both.wait()
              // The thread that watches the other one waits for its transaction.
              devices[1 - place].shared.waitForCheck()
              tokens[1 - place].cancel()
            }
          }
        }
      }
      threads.wait()
    }
    #expect(isOver)
  }

  @Test func aTokenThatWasCancelledKeepsNoFileOpen() throws {
    var device: Device? = try Device.temporary()
    let path = try #require(device?.path)
    let token = device.map { Heard().observe($0) }
    token?.cancel()
    device = nil
    #expect(!FileManager.default.fileExists(atPath: path))
    withExtendedLifetime(token) {}
  }

  @Test(arguments: [false, true])
  func whatAnObserverHoldsMayWriteWhenItGoes(isAlone: Bool) throws {
    let store = try Local(on: .inMemory())
    final class Screen: Sendable {
      let store: Local
      init(_ store: Local) { self.store = store }
      deinit { store.count = 3 }
    }
    let other = isAlone ? nil : store.observe { _ in }
    @Sendable func observe() -> ObservationToken {
      let screen = Screen(store)
      return store.observe { _ in withExtendedLifetime(screen) {} }
    }
    #expect(ends { observe().cancel() })
    #expect(store.count == 3 && store.failures.isEmpty)
    withExtendedLifetime(other) {}
  }

  /// What is kept of the last read is released without a lock.
  @Test func aValueMayReadItsSettingWhenItGoes() throws {
    final class Noisy: Sendable {
      let end: @Sendable () -> Void
      init(_ end: @escaping @Sendable () -> Void) { self.end = end }
      deinit { end() }
    }
    let store = try Local(on: .inMemory())
    let reader = Mutex<(@Sendable () -> Void)?>(nil)
    let noisy = Transformer<Noisy>(
      fromBackingStore: { (_: Int) in Noisy { reader.withLock { $0 }?() } },
      toBackingStore: { _ in 0 })
    let setting = try store.setting(SettingKey("count", default: Noisy {}, by: noisy))
    reader.withLock { $0 = { _ = setting.wrappedValue } }
    let isOver = ends {
      for number in 1...3 {
        store.count = number
        _ = setting.wrappedValue
      }
    }
    #expect(isOver)
    reader.withLock { $0 = nil }
  }
}

@Suite struct EndedTransactionTests {
  @Test func whatADiskThatIsFullEndsIsNotGoneOnWith() throws {
    let device = try Device.temporary()
    let store = try Local(on: device)
    store.count = 1
    try device.tables.access { connection in
      let pages = try connection.first("PRAGMA page_count") { $0.integer(0) } ?? 0
      try connection.run("PRAGMA max_page_count = \(pages + 4)")
    }
    let heard = ChangeRecorder(store)
    expectError(.diskFull) {
      try store.transaction {
        store.count = 2
        store["big"] = .string(String(repeating: "x", count: 1_000_000))
        store.count += 10
      }
    }
    #expect(store.count == 1 && heard.sets.isEmpty)
    #expect(store.failures.isEmpty)
  }
}
