// SPDX-License-Identifier: Apache-2.0
//
// What a provider over a store gives of the store's layers.

#if Configuration
  import Configuration
  import ConfigurationKeepsake
  import Foundation
  import Keepsake
  import Synchronization
  import TestSupport
  import Testing

  private final class Server: UserDefaultsStore, @unchecked Sendable {
    @Setting var port = 80
    @Setting var isLoud = false
    @Setting var name = "guest"
  }

  @Suite struct LayeredStoreTests {
    private func server(
      _ layers: SettingsLayer..., arguments: LaunchArguments = .none
    ) throws -> Server {
      try Server(on: .inMemory(), layers: layers, arguments: arguments)
    }

    // MARK: - Types

    private func expectTyped(_ server: Server) async throws {
      let provider = try KeepsakeProvider(server)
      let config = ConfigReader(provider: provider)
      #expect(server.port == 9000 && server.isLoud)
      #expect(config.int(forKey: "port", default: 1) == 9000)
      #expect(config.double(forKey: "port", default: 1) == 9000)
      #expect(config.bool(forKey: "isLoud", default: false))
      #expect(try await config.fetchRequiredInt(forKey: "port") == 9000)
      let port = try provider.snapshot().value(forKey: "port", type: .int).value
      #expect(port?.content == .int(9000))
    }

    @Test func environmentVariablesHaveTheTypeThatIsAskedFor() async throws {
      let environment = EnvironmentVariablesProvider(
        environmentVariables: ["PORT": "9000", "IS_LOUD": "true"])
      try await expectTyped(server(.managed(by: [environment])))
      try await expectTyped(server(.defaults(from: [environment])))
    }

    @Test func launchArgumentsHaveTheTypeThatIsAskedFor() async throws {
      let arguments = LaunchArguments(["app", "-port", "9000", "-isLoud", "YES"])
      try await expectTyped(server(arguments: arguments))
      // No more than that.
      let argument = try KeepsakeProvider(self.server(arguments: arguments))
      #expect(throws: KeepsakeProvider.WrongType.self) {
        try argument.value(forKey: "port", type: .bool)
      }
      // What was set has the type that it has.
      let server = try server()
      server["port"] = "9000"
      let config = ConfigReader(provider: try KeepsakeProvider(server))
      #expect(config.int(forKey: "port") == nil && config.string(forKey: "port") == "9000")
    }

    // MARK: - What cannot be given

    @Test func whatCannotBeGivenIsLeftOutAndWatchersGoOn() async throws {
      // swift-configuration has no type for a date.
      let date = StoredValue.date(Date(timeIntervalSinceReferenceDate: 0))
      let source = try UserDefaultsStore(on: .inMemory(), arguments: .none)
      try source.transaction { (source["port"], source["name"]) = (date, "ada") }
      let server = try server(.managed(by: [KeepsakeProvider(source)]))
      let provider = try KeepsakeProvider(server)
      let config = ConfigReader(provider: provider)
      #expect(config.int(forKey: "port") == nil && config.string(forKey: "name") == "ada")
      #expect(server.failures.map(\.key) == ["port"])
      try await config.watchString(forKey: "name") { names in
        var names = names.makeAsyncIterator()
        let first = await names.next(isolation: #isolation)
        try source.transaction { (source["name"], source["isLoud"]) = ("bob", date) }
        let second = await names.next(isolation: #isolation)
        #expect(first == "ada" && second == "bob")
      }
      server["other"] = 1
      // Another thread may deliver this change, after those of the source.
      try await config.watchInt(forKey: "other") { numbers in
        for await number in numbers where number == 1 { break }
      }
      #expect(server.failures.map(\.key) == ["port", "isLoud"])
    }

    @Test(.timeLimit(.minutes(1))) func theRuleForSecretsMayAskTheProvider() async throws {
      let server = try server()
      let asked = Mutex<KeepsakeProvider?>(nil)
      let provider = try KeepsakeProvider(
        server,
        secrets: .dynamic { _, _ in
          "\(asked.withLock { $0?.snapshot() } as Any)".contains("none")
        })
      asked.withLock { $0 = provider }
      defer { asked.withLock { $0 = nil } }
      try await provider.watchValue(forKey: "port", type: .int) { ports in
        var ports = ports.makeAsyncIterator()
        let first = try await ports.next(isolation: #isolation)?.get()
        server.port = 81
        let second = try await ports.next(isolation: #isolation)?.get()
        #expect(first?.value?.content == .int(80) && second?.value?.content == .int(81))
      }
    }

    @Test func aSnapshotShowsNoValue() throws {
      let server = try server()
      server["name"] = "s3cret"
      let provider = try KeepsakeProvider(server)
      for text in ["\(provider.snapshot())", String(reflecting: provider.snapshot())] {
        #expect(text == "KeepsakeProvider[defaults][3 values]")
      }
    }
  }
#endif
