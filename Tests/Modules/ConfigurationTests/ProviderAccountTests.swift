// SPDX-License-Identifier: Apache-2.0
//
// After its store has switched the account, a provider returns the new account's values, or throws.

#if Configuration
  import Configuration
  import ConfigurationKeepsake
  import Foundation
  import Keepsake
  import KeepsakeDevice
  import Synchronization
  import TestSupport
  import Testing

  private final class Waiting: CloudKeyValueStore, @unchecked Sendable {
    static let isWaiting = Atomic(false)
    static let (entered, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))

    @Setting var n = 0
    @Setting(
      default: {
        if Waiting.isWaiting.load(ordering: .sequentiallyConsistent) {
          Waiting.entered.signal()
          Waiting.gate.wait()
        }
        return 5
      }) var late: Int
  }

  @Suite struct ProviderAccountTests {
    private let (a, b): (Device, Device)
    private let store: CloudKeyValueStore

    init() throws {
      (a, b) = (try Device.inMemory(), try Device.inMemory())
      store = try CloudKeyValueStore(on: a)
      // More commits here than there: the numbers of one file say nothing of the other's.
      for number in 1...9 { store["n"] = .integer(Int64(number)) }
      try CloudKeyValueStore(on: b).write(100, for: "n")
    }

    private func int(_ provider: KeepsakeProvider) throws -> ConfigContent? {
      try provider.value(forKey: "n", type: .int).value?.content
    }

    @Test func aCommitThatIsBeingAnnouncedIsNotSeenAfterASwitch() throws {
      let (entered, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let token = store.observe { changes in
        guard changes[0].new == 10 else { return }
        entered.signal()
        gate.wait()
      }
      let provider = try KeepsakeProvider(store)
      let writer = DispatchGroup()
      DispatchQueue.global().async(group: writer) { [store] in store["n"] = 10 }
      entered.wait()
      try store.switchAccount(to: b)
      #expect(try int(provider) == .int(100))
      gate.signal()
      writer.wait()
      #expect(try int(provider) == .int(100))
      store["n"] = 101
      #expect(try int(provider) == .int(101))
      token.cancel()
    }

    @Test func anAccountWithTheSameValuesIsFollowed() async throws {
      let same = try Device.inMemory()
      try CloudKeyValueStore(on: same).write(9, for: "n")
      let provider = try KeepsakeProvider(store)
      try await provider.watchValue(forKey: "n", type: .int) { updates in
        var updates = updates.makeAsyncIterator()
        let first = try await updates.next()?.get().value?.content
        try store.switchAccount(to: same)
        store["n"] = 10
        let second = try await updates.next()?.get().value?.content
        #expect(first == .int(9) && second == .int(10))
      }
    }

    @Test func anAccountThatCannotBeReadIsAnErrorUntilItCanBe() async throws {
      @Sendable func rename(_ old: String, _ new: String) {
        #expect(throws: Never.self) {
          try b.core.access { try $0.execute("ALTER TABLE \(old) RENAME TO \(new)") }
        }
      }
      // After the store has moved, and before the provider has read it.
      let before = try UserDefaultsStore(
        on: .inMemory(), layers: [.defaults(from: [try KeepsakeProvider(store)])],
        arguments: .none)
      let token = before.observe("n") { _ in rename("replica", "gone") }
      let provider = try KeepsakeProvider(store)
      let config = ConfigReader(provider: provider)
      try await provider.watchValue(forKey: "n", type: .int) { updates in
        var updates = updates.makeAsyncIterator()
        let first = try await updates.next()?.get().value?.content
        #expect(first == .int(9))
        try store.switchAccount(to: b)
        try #require(throws: KeepsakeError.self) { try int(provider) }
        #expect(throws: KeepsakeError.self) {
          try provider.snapshot().value(forKey: "n", type: .int)
        }
        #expect(config.int(forKey: "n") == nil && !store.errors.isEmpty)
        let second = try await updates.next()
        #expect(throws: KeepsakeError.self) { try second?.get() }
        rename("gone", "replica")
        #expect(config.int(forKey: "n") == 100)
        let third = try await updates.next()?.get().value?.content
        #expect(third == .int(100))
      }
      token.cancel()
    }

    @Test func aLayerThatAProviderGivesIsOfTheNewAccountWhenTheSwitchReturns() throws {
      let provider = try KeepsakeProvider(store)
      let local = try UserDefaultsStore(
        on: .inMemory(), layers: [.defaults(from: [provider])], arguments: .none)
      let heard = Heard()
      let token = local.observe("n") { heard.append($0) }
      #expect(local["n"] == 9)
      store["n"] = 10
      #expect(local["n"] == 10)
      try store.switchAccount(to: b)
      #expect(local["n"] == 100)
      #expect(heard.sets.map { $0.map(\.new) } == [[10], [100]])
      #expect(heard.sets.allSatisfy { $0[0].reason == .reload })
      token.cancel()
    }

    /// The observer of a store with a layer is called for the old account all the time.
    @Test func noLayerAndNoWatchIsOfTheOldAccountThoughAnObserverIsBusy() async throws {
      let provider = try KeepsakeProvider(store)
      let local = try UserDefaultsStore(
        on: .inMemory(), layers: [.defaults(from: [provider])], arguments: .none)
      #expect(local["n"] == 9)
      let above = try UserDefaultsStore(
        on: .inMemory(), layers: [.managed(by: [try KeepsakeProvider(local)])], arguments: .none)
      let (entered, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let token = local.observe("n") { [entered, gate] changes in
        guard changes[0].new == 10 else { return }
        entered.signal()
        gate.wait()
      }
      let writer = DispatchGroup()
      func waitForCall() { entered.wait() }
      func letGo() {
        gate.signal()
        writer.wait()
      }
      try await provider.watchValue(forKey: "n", type: .int) { updates in
        var updates = updates.makeAsyncIterator()
        let first = try await updates.next()?.get().value?.content
        #expect(first == .int(9) && above["n"] == 9)
        DispatchQueue.global().async(group: writer) { [store] in store["n"] = 10 }
        waitForCall()
        try store.switchAccount(to: b)
        try #require(local["n"] == 100 && above["n"] == 100)
        let second = try await updates.next()?.get().value?.content
        #expect(second == .int(100))
        letGo()
        #expect(local["n"] == 100 && above["n"] == 100)
        store["n"] = 101
        #expect(local["n"] == 101 && above["n"] == 101)
      }
      token.cancel()
    }

    @Test func aLayerOfAProviderWithinAnotherIsOfTheNewAccountWhenTheSwitchReturns() throws {
      store["app.n"] = 1
      try CloudKeyValueStore(on: b).write(2, for: "app.n")
      let provider = try KeepsakeProvider(store).prefixKeys(with: "app")
      let local = try UserDefaultsStore(
        on: .inMemory(), layers: [.defaults(from: [provider])], arguments: .none)
      #expect(local["n"] == 1)
      for number in 2...20 {
        store["app.n"] = .integer(Int64(number))
        #expect(local["n"] == .integer(Int64(number)))
      }
      try store.switchAccount(to: b)
      #expect(local["n"] == 2)
      try store.switchAccount(to: a)
      #expect(local["n"] == 20)
    }

    /// A default that is computed while a provider takes a change of the old account.
    @Test func aChangeThatIsBeingTakenIsNotTakenAfterASwitch() throws {
      let settings = try Waiting(on: a)
      settings.n = 1
      try CloudKeyValueStore(on: b).write(100, for: "late")
      settings["late"] = 7
      let provider = try KeepsakeProvider(settings)
      Waiting.isWaiting.store(true, ordering: .sequentiallyConsistent)
      let writer = DispatchGroup()
      DispatchQueue.global().async(group: writer) { settings["late"] = nil }
      Waiting.entered.wait()
      Waiting.isWaiting.store(false, ordering: .sequentiallyConsistent)
      try settings.switchAccount(to: b)
      Waiting.gate.signal()
      writer.wait()
      let late = try provider.value(forKey: "late", type: .int).value?.content
      #expect(late == .int(100))
    }

    /// Writers, an observer before the provider, and switches: a look-up between two switches gives
    /// the value of the account that is present.
    @Test(arguments: Seeds.list(12, debug: 4))
    func aLookUpGivesNoOtherAccountsValue(_ seed: UInt64) throws {
      var random = SeededGenerator(seed: seed)
      let devices = try (0..<3).map { _ in
        random.chance(50) ? try Device.inMemory() : try Device.temporary()
      }
      let stores = try devices.map { try CloudKeyValueStore(on: $0) }
      // The thousands are the account.
      for (account, store) in stores.enumerated() { store["n"] = .integer(Int64(account * 1000)) }
      let store = try CloudKeyValueStore(on: devices[0])
      let token = store.observe { _ in for _ in 0..<30 { sched_yield() } }
      let provider = try KeepsakeProvider(store)
      let writers = DispatchGroup()
      for (account, store) in stores.enumerated() {
        DispatchQueue.global().async(group: writers) {
          for number in 1...200 { store["n"] = .integer(Int64(account * 1000 + number)) }
        }
      }
      for _ in 0..<100 {
        let account = Int.random(in: 0..<3, using: &random)
        try store.switchAccount(to: devices[account])
        for _ in 0..<Int.random(in: 1..<5, using: &random) {
          guard case .int(let number)? = try int(provider) else {
            Issue.record("no number")
            return
          }
          #expect(number / 1000 == account, "KEEPSAKE_SEED=\(seed)")
          sched_yield()
        }
      }
      writers.wait()
      #expect(try int(provider) == (store["n"]?.number).map { .int(Int($0)) })
      #expect(store.errors.isEmpty)
      token.cancel()
    }
  }

  extension StoredValue {
    fileprivate var number: Int64? {
      if case .integer(let number) = self { number } else { nil }
    }
  }
#endif
