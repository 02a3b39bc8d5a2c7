// SPDX-License-Identifier: Apache-2.0

#if Configuration
  import Configuration
  import ConfigurationKeepsake
  import Keepsake
  import TestSupport
  import Testing

  @Suite struct ConfigurationArticle {
    private let settings: UserDefaultsStore

    init() throws {
      settings = try UserDefaultsStore(on: Device.inMemory(), arguments: .none)
    }

    @Test func aStoreIsConfiguration() async throws {
      settings["http.port"] = 80
      let config = ConfigReader(providers: [
        EnvironmentVariablesProvider(),
        try KeepsakeProvider(settings, secrets: .specific(["api.key"])),
      ])
      let port = config.int(forKey: "http.port", default: 8080)
      #expect(port == 80)

      let (heardPorts, hearing) = AsyncStream<Int>.makeStream()
      let heard = { @Sendable (port: Int) in _ = hearing.yield(port) }
      let watch = Task {
        try await config.watchInt(forKey: "http.port", default: 8080) { ports in
          for await port in ports { heard(port) }
        }
      }
      var ports = heardPorts.makeAsyncIterator()
      let first = await ports.next()
      settings["http.port"] = 81
      let second = await ports.next()
      #expect(first == 80 && second == 81)
      watch.cancel()
      try await watch.value
    }

    @Test func oneKeyIsAWholeConfiguration() throws {
      settings["com.apple.configuration.managed"] = ["http": ["port": 82]]
      let managed = try KeepsakeProvider(
        settings, key: "com.apple.configuration.managed", layout: .nested)
      #expect(ConfigReader(provider: managed).int(forKey: "http.port") == 82)
    }
  }
#endif
