// SPDX-License-Identifier: Apache-2.0
//
// How a provider follows its store: whole, in order, without I/O, until it is cancelled.

#if Configuration
  import Configuration
  import ConfigurationKeepsake
  import Foundation
  import Keepsake
  import KeepsakeDevice
  import TestSupport
  import Testing

  @Suite struct ProviderChangeTests {
    private let device: Device
    private let settings: UserDefaultsStore

    init() throws {
      device = try Device.temporary()
      settings = try UserDefaultsStore(on: device, arguments: .none)
    }

    @Test func lookUpsReadNoFileUntilThereIsAChange() throws {
      for number in 0..<50 { settings["k\(number)"] = .integer(Int64(number)) }
      let provider = try KeepsakeProvider(settings)
      let trace = try StatementTrace.of([device]) {
        for number in 0..<50 {
          let key = AbsoluteConfigKey(["k\(number)"])
          let value = try int(provider, key)
          let same = try provider.snapshot().value(forKey: key, type: .int).value?.content
          #expect(value == .int(number) && same == value)
        }
        let none = try int(provider, "none")
        #expect(none == nil)
      }
      #expect(trace.statements.isEmpty)
      // Looked at in the same way, a fetch does read.
      let fetch = try StatementTrace.of([device]) { _ = try settings.explain("k1") }
      #expect(!fetch.statements.isEmpty)
    }

    @Test func ownWritesAndThoseOfOtherProcessesAreSeen() async throws {
      let provider = try KeepsakeProvider(settings)
      let config = ConfigReader(provider: provider)
      settings["theme"] = "dark"
      #expect(config.string(forKey: "theme") == "dark")
      try await config.watchString(forKey: "theme") { updates in
        var updates = updates.makeAsyncIterator()
        try await expect(&updates, "dark")
        let ending = try Command.run(
          Command.kvsync.get(), ["set", device.path, "theme", "light", "--store", "defaults"])
        #expect(ending.code == 0)
        try await expect(&updates, "light")
      }
      #expect(config.string(forKey: "theme") == "light")
      settings["theme"] = nil
      #expect(config.string(forKey: "theme") == nil)
    }

    @Test func withinATransactionNothingIsSeenUntilItHasEnded() throws {
      struct Undone: Error {}
      settings["a"] = 1
      let provider = try KeepsakeProvider(settings)
      #expect(throws: Undone.self) {
        try settings.transaction {
          settings["a"] = 2
          settings.register(defaults: ["b": 1])
          let a = try int(provider, "a")
          #expect(a == .int(1))
          throw Undone()
        }
      }
      #expect(try int(provider, "a") == .int(1))
      try settings.transaction {
        settings["a"] = 3
        let a = try int(provider, "a")
        #expect(a == .int(1))
        #expect(throws: KeepsakeError.self) { try KeepsakeProvider(settings) }
      }
      #expect(try int(provider, "a") == .int(3))
      #expect(try int(provider, "b") == .int(1))
    }

    @Test func aSnapshotIsOfOneMomentAndStaysAsItWas() async throws {
      try settings.transaction { (settings["a"], settings["b"]) = (0, 0) }
      let provider = try KeepsakeProvider(settings)
      let first = provider.snapshot()
      let writer = Thread { [settings] in
        for number in 1...500 {
          let value = StoredValue.integer(Int64(number))
          let result = Result {
            try settings.transaction { (settings["a"], settings["b"]) = (value, value) }
          }
          #expect(throws: Never.self) { try result.get() }
        }
      }
      writer.start()
      try await provider.watchSnapshot { updates in
        var last = -1
        for await snapshot in updates {
          let a = try snapshot.value(forKey: "a", type: .int).value?.content
          let b = try snapshot.value(forKey: "b", type: .int).value?.content
          guard case .int(let number)? = a else {
            Issue.record("no a")
            break
          }
          #expect(a == b && number >= last)
          last = number
          if number == 500 { break }
        }
      }
      #expect(try first.value(forKey: "a", type: .int).value?.content == .int(0))
    }

    @Test func aProviderThatIsMadeWhileOthersWriteMissesNothing() throws {
      let group = DispatchGroup()
      let writer = Thread { [settings] in
        for number in 1...300 { settings["n"] = .integer(Int64(number)) }
        group.leave()
      }
      group.enter()
      writer.start()
      let providers = try (0..<30).map { _ in try KeepsakeProvider(settings) }
      group.wait()
      for provider in providers {
        #expect(try provider.value(forKey: "n", type: .int).value?.content == .int(300))
      }
    }

    @Test func twoWatchersEachGetThePresentValueThenTheNewest() async throws {
      settings["n"] = 0
      let config = ConfigReader(provider: try KeepsakeProvider(settings))
      try await config.watchInt(forKey: "n") { first in
        try await config.watchInt(forKey: "n") { second in
          var (a, b) = (first.makeAsyncIterator(), second.makeAsyncIterator())
          try await expect(&a, 0)
          try await expect(&b, 0)
          for number in 1...10 { settings["n"] = .integer(Int64(number)) }
          // What came in between is not kept for them.
          try await expect(&a, 10)
          try await expect(&b, 10)
          settings["other"] = 1
          settings["n"] = 11
          try await expect(&a, 11)
        }
      }
    }

    @Test func aWatcherGetsAWrongTypeAndGoesOn() async throws {
      settings["n"] = "one"
      let provider = try KeepsakeProvider(settings)
      try await provider.watchValue(forKey: "n", type: .int) { updates in
        var updates = updates.makeAsyncIterator()
        let first = try await updates.next()
        #expect(throws: KeepsakeProvider.WrongType.self) { try first?.get() }
        settings["n"] = 1
        try await expect(&updates, content: .int(1))
        settings["n"] = nil
        let last = try await updates.next()?.get()
        #expect(last == LookupResult(encodedKey: "n", value: nil))
      }
    }

    @Test func aWatchEndsWithItsTask() async throws {
      settings["n"] = 0
      let provider = try KeepsakeProvider(settings)
      let (begun, beginning) = AsyncStream<Void>.makeStream()
      let tasks = [
        Task {
          try await provider.watchValue(forKey: "n", type: .int) { updates in
            var count = 0
            for await _ in updates {
              count += 1
              beginning.yield()
            }
            return count
          }
        },
        Task {
          try await provider.watchSnapshot { updates in
            var count = 0
            for await _ in updates {
              count += 1
              beginning.yield()
            }
            return count
          }
        },
      ]
      var both = begun.makeAsyncIterator()
      for _ in tasks { await both.next() }
      for task in tasks { task.cancel() }
      for task in tasks { #expect(try await task.value == 1) }
      struct Left: Error {}
      await #expect(throws: Left.self) {
        try await provider.watchValue(forKey: "n", type: .int) { _ in throw Left() }
      }
      settings["n"] = 1
      #expect(try provider.value(forKey: "n", type: .int).value?.content == .int(1))
    }

    @Test func whatIsRegisteredLaterIsSeenAndASetValueStaysAbove() throws {
      settings["a"] = 1
      let provider = try KeepsakeProvider(settings)
      settings.register(defaults: ["a": 5, "b": 6])
      func value(_ key: AbsoluteConfigKey) throws -> ConfigContent? {
        try provider.value(forKey: key, type: .int).value?.content
      }
      #expect(try value("a") == .int(1) && value("b") == .int(6))
      settings["a"] = nil
      #expect(try value("a") == .int(5))
    }

    @Test func theFileIsClosedWhenTheProviderHasGone() throws {
      var provider: KeepsakeProvider? = try KeepsakeProvider(settings)
      let ended = Weak(provider: provider)
      #expect(try provider?.value(forKey: "a", type: .int).value == nil)
      provider = nil
      #expect(ended.provider == nil)
    }

    private func int(
      _ provider: KeepsakeProvider, _ key: AbsoluteConfigKey
    ) throws -> ConfigContent? {
      try provider.value(forKey: key, type: .int).value?.content
    }

    private struct Weak { weak var provider: KeepsakeProvider? }

    // MARK: - What a watcher gets

    private func expect<Updates: AsyncIteratorProtocol>(
      _ updates: inout Updates, _ value: Updates.Element,
      sourceLocation: SourceLocation = #_sourceLocation
    ) async throws where Updates.Element: Equatable {
      let next = try await updates.next(isolation: #isolation)
      #expect(next == value, sourceLocation: sourceLocation)
    }

    private func expect<Updates: AsyncIteratorProtocol>(
      _ updates: inout Updates, content: ConfigContent,
      sourceLocation: SourceLocation = #_sourceLocation
    ) async throws where Updates.Element == Result<LookupResult, any Error> {
      let next = try await updates.next(isolation: #isolation)?.get()
      #expect(next?.value?.content == content, sourceLocation: sourceLocation)
    }
  }
#endif
