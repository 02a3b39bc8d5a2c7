// SPDX-License-Identifier: Apache-2.0

#if Configuration
  import Configuration
  import ConfigurationKeepsake
  import Foundation
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

    private final class AppSettings: UserDefaultsStore, @unchecked Sendable {
      @Setting var volume = 5
    }

    @Test func providersAreLayers() async throws {
      let device = try Device.inMemory()
      let environment = EnvironmentVariablesProvider().prefixKeys(with: "app")
      let file = try await FileProvider<JSONSnapshot>(filePath: "/etc/app.json", allowMissing: true)
      let settings = try AppSettings(
        on: device, layers: [.managed(by: [environment]), .defaults(from: [file])])
      #expect(settings.volume == 5)
    }

    @Test func providersAreExplained() async throws {
      let folder = try Folder()
      let clock = ManualClock(milliseconds: 1_795_168_800_000)
      let device = try Device.inMemory(clock: clock.wallClock)
      let environment = EnvironmentVariablesProvider(environmentVariables: ["APP_VOLUME": "9"])
      let path = "\(folder.path)/app.json"
      try Data("{\"volume\": 4}".utf8).write(to: URL(filePath: path))
      let file = try await FileProvider<JSONSnapshot>(filePath: .init(path))
      let settings = try AppSettings(
        on: device,
        layers: [
          .managed(by: [environment.prefixKeys(with: "app")]), .defaults(from: [file]),
        ], arguments: .none)
      try UserDefaultsStore(on: device, arguments: .none).write(7, for: "volume")
      #expect(
        try "\(settings.$volume.explain())" == """
          "volume" in "defaults": "9"
          * managed: "9", "APP_VOLUME" of KeyMappingProvider[upstream: EnvironmentVariablesProvider]
            set: 7, 2026-11-20T10:00:00.000Z by this device
            given default: 4, "volume" of FileProvider<JSONSnapshot>
            default of the property: 5
          """)
    }
  }
#endif
