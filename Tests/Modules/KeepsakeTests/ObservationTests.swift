// SPDX-License-Identifier: Apache-2.0
//
// What observers of this process hear of its own changes. For those of others see
// `ForeignChangeTests`.

import Foundation
import Keepsake
import SettingsFixture
import Synchronization
import TestSupport
import Testing

private final class Shared: CloudKeyValueStore, @unchecked Sendable {
  @Setting var theme = "light"
  @Setting var size = 1
}

@Suite struct ObservationTests {
  private let device: Device
  private let store: Shared
  private let heard = Heard()

  init() throws {
    device = try Device.temporary()
    store = try Shared(on: device)
  }

  /// Sets one key in each of two stores, and four in this one.
  private func write() throws {
    let other = try UserDefaultsStore(on: device)
    try device.transaction {
      store.theme = "dark"
      other["editor.font"] = "mono"
      store["editor.font"] = "mono"
      store["editor.size"] = 9
      store["edit"] = true
    }
  }

  @Test func everythingOnADeviceCanBeObserved() throws {
    let observation = heard.observe(device, .prefix("editor"))
    try write()
    observation.cancel()
    let changes = heard.sets.flatMap { $0 }
    #expect(changes.map(\.store) == ["defaults", "cloud", "cloud"])
    #expect(changes.map(\.key) == ["editor.font", "editor.font", "editor.size"])
  }

  @Test func aChangeTellsItsOriginItsReasonAndItsTransaction() throws {
    // The timestamps decide which write wins, so the devices do not write in one millisecond.
    let clock = ManualClock()
    let device = try Device.inMemory(clock: clock.wallClock)
    let store = try Shared(on: device)
    let other = try Device.inMemory(clock: clock.wallClock)
    let (me, them) = (try device.replica(), try other.replica())
    let observation = store.observe { heard.append($0) }
    store.theme = "dark"
    try store.transaction {
      store.theme = "blue"
      store.size = 2
    }
    clock.milliseconds += 1
    try Shared(on: other).size = 3
    try device.merge(with: other)
    observation.cancel()
    let changes = heard.sets.flatMap { $0 }
    #expect(changes.map(\.key) == ["theme", "theme", "size", "size"])
    #expect(changes.map(\.old) == [nil, "dark", nil, 2])
    #expect(changes.map(\.new) == ["dark", "blue", 2, 3])
    #expect(changes.map(\.reason) == [.local, .local, .local, .firstMerge])
    #expect(changes.map(\.writer) == [me, me, me, them])
    #expect(changes.map(\.process) == Array(repeating: .this, count: 4))
    #expect(
      changes.map(\.origin) == [.thisProcess, .thisProcess, .thisProcess, .device(them)])
    #expect(changes.map(\.transaction) == [1, 3, 3, 4])
  }

  @Test func anObserverThatAnotherOneAddsHearsOnlyLaterCommits() throws {
    let late = Heard()
    let tokens = Mutex<[ObservationToken]>([])
    let observation = store.observe { [store] _ in
      let isFirst = tokens.withLock { $0.isEmpty }
      guard isFirst else { return }
      let token = store.observe { late.append($0) }
      tokens.withLock { $0.append(token) }
    }
    store.theme = "dark"
    store.size = 3
    #expect(late.sets.map { $0.map(\.key) } == [["size"]])
    observation.cancel()
  }

  /// The thread that hears of others may wait for the transaction, which must not wait for it.
  @Test func anObserverCanBeTakenAwayInATransaction() throws {
    for _ in 0..<200 {
      let observation = store.observe { heard.append($0) }
      try store.transaction {
        store.size += 1
        observation.cancel()
      }
    }
    #expect(heard.sets.isEmpty && !device.hasObservers)
  }

  @Test func aSettingTellsItsValueAfterEachChange() throws {
    let values = Mutex<[String]>([])
    let observation = try store.$theme.observe { value in values.withLock { $0.append(value) } }
    store.theme = "dark"
    store.size = 3
    store.theme = "dark"
    try store.$theme.reset()
    observation.cancel()
    store.theme = "blue"
    #expect(values.withLock { $0 } == ["dark", "light"])
  }

  @Test func valuesBeginWithThePresentOneAndEndWithTheNewest() async throws {
    store.size = 5
    var values = store.$size.values.makeAsyncIterator()
    #expect(await values.next() == 5)
    store.size = 6
    #expect(await values.next() == 6)
    // Nobody reads meanwhile: only the last counts.
    for size in 7...100 { store.size = size }
    #expect(await values.next() == 100)
    store.theme = "dark"
    store.size = 101
    #expect(await values.next() == 101)
  }

  /// Writes the next size whenever one is read, which is when most could go wrong.
  private func sizeThatChangesWhileItIsRead(to last: Int) throws -> Setting<Int> {
    let raw = try Shared(on: device)
    return try store.setting(
      SettingKey(
        "size", default: 1,
        by: Transformer(
          fromBackingStore: { (size: Int) in
            if size < last { raw["size"] = .integer(Int64(size + 1)) }
            return size
          },
          toBackingStore: { $0 })))
  }

  @Test func aValueThatChangesWhileItIsReadIsNotifiedOnceAndThenTheNext() async throws {
    store.size = 2
    var seen: [Int] = []
    for await value in try sizeThatChangesWhileItIsRead(to: 9).values {
      seen.append(value)
      if value == 9 { break }
    }
    #expect(seen == Array(2...9))
  }

  /// A writer on another thread, and a reader that has to come to the last value whatever it skips.
  @Test func noReaderOfValuesMissesTheLastOne() async throws {
    let (setting, goal) = (store.$size, 2_000)
    Thread.detachNewThread {
      #expect(throws: Never.self) { for size in 2...goal { try setting.write(size) } }
    }
    var seen: [Int] = []
    for await value in setting.values {
      seen.append(value)
      if value == goal { break }
    }
    #expect(seen == seen.sorted() && Set(seen).count == seen.count, "\(seen)")
  }

  @Test func valuesEndWithTheirTask() async throws {
    let setting = store.$size
    let reader = Task { for await _ in setting.values {} }
    reader.cancel()
    await reader.value
    #expect(!device.hasObservers)
  }
}
