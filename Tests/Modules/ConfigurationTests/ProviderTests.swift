// SPDX-License-Identifier: Apache-2.0
//
// What a store gives as a provider: keys, types, secrets.

#if Configuration
  import Configuration
  import ConfigurationKeepsake
  import ConfigurationTesting
  import Keepsake
  import Synchronization
  import TestSupport
  import Testing

  @Suite struct ProviderTests {
    private static let magic = StoredValue.data(Data("magic".utf8))
    private static let magic2 = StoredValue.data(Data("magic2".utf8))

    /// What the compatibility suite looks up.
    static let values: [String: StoredValue] = [
      "string": "Hello", "other.string": "Other Hello", "int": 42, "other.int": 24,
      "double": 3.14, "other.double": 2.72, "bool": true, "other.bool": false,
      "bytes": magic, "other.bytes": magic2,
      "stringy.array": ["Hello", "World"], "other.stringy.array": ["Hello", "Swift"],
      "inty.array": [42, 24], "other.inty.array": [16, 32],
      "doubly.array": [3.14, 2.72], "other.doubly.array": [0.9, 1.8],
      "booly.array": [true, false], "other.booly.array": [false, true, true],
      "byteChunky.array": [magic, magic2], "other.byteChunky.array": [magic, magic2, magic],
    ]

    private let device: Device
    private let settings: UserDefaultsStore

    init() throws {
      device = try Device.inMemory()
      settings = try UserDefaultsStore(on: device, arguments: .none)
    }

    private func fill(_ store: SettingsStore, _ values: [String: StoredValue]) throws {
      for (key, value) in values { try store.write(value, for: key) }
    }

    // MARK: - The suite of swift-configuration

    @Test func theCompatibilitySuitePasses() async throws {
      let shared = try CloudKeyValueStore(on: device)
      for store in [settings, shared] {
        try fill(store, Self.values)
        try await ProviderCompatTest(provider: KeepsakeProvider(store)).runTest()
      }
    }

    @Test func theCompatibilitySuiteFindsWhatIsMissing() async throws {
      try fill(settings, Self.values.filter { $0.key != "int" })
      let provider = try KeepsakeProvider(settings)
      await withKnownIssue { try await ProviderCompatTest(provider: provider).runTest() }
    }

    // MARK: - Types

    private static let types: [ConfigType] = [
      .string, .int, .double, .bool, .bytes, .stringArray, .intArray, .doubleArray, .boolArray,
      .byteChunkArray,
    ]

    /// For each value all the types that it can be had as.
    private static let samples: [(StoredValue, Set<ConfigType>)] = [
      ("text", [.string]), (7, [.int, .double]), (7.5, [.double]), (7.0, [.double]),
      (true, [.bool]), (magic, [.bytes]), (.date(Date(timeIntervalSinceReferenceDate: 0)), []),
      (["a"], [.stringArray]), ([1, 2], [.intArray, .doubleArray]), ([1, 2.5], [.doubleArray]),
      ([true], [.boolArray]), ([magic], [.byteChunkArray]), (["a", 1], []), ([["a"]], []),
      ([], [.stringArray, .intArray, .doubleArray, .boolArray, .byteChunkArray]),
      (["a": 1], []),
      // The first whole number that no decimal one equals.
      (9_007_199_254_740_993, [.int]),
    ]

    @Test(arguments: samples.indices)
    func aWrongTypeThrowsAndNeverTellsTheValue(index: Int) async throws {
      let (value, allowed) = Self.samples[index]
      settings["a.b"] = value
      let provider = try KeepsakeProvider(settings, name: "app")
      for type in Self.types {
        if allowed.contains(type) {
          #expect(try provider.value(forKey: "a.b", type: type).value != nil, "\(type)")
          continue
        }
        let text =
          "KeepsakeProvider[app]: \"a.b\" cannot be given as \(type.rawValue): its type is "
          + "\(value.kind.rawValue); store another value, or ask for its type"
        let snapshot = provider.snapshot()
        let refusals = [
          Result { try provider.value(forKey: "a.b", type: type) },
          Result { try snapshot.value(forKey: "a.b", type: type) },
          await fetch(provider, "a.b", type),
        ]
        for refusal in refusals {
          let error = #expect(throws: KeepsakeProvider.WrongType.self) { try refusal.get() }
          #expect(error?.description == text)
          #expect(error?.asked == type && error?.stored == value.kind && error?.key == "a.b")
        }
      }
    }

    private func fetch(
      _ provider: KeepsakeProvider, _ key: AbsoluteConfigKey, _ type: ConfigType
    ) async -> Result<LookupResult, any Error> {
      do {
        return .success(try await provider.fetchValue(forKey: key, type: type))
      } catch {
        return .failure(error)
      }
    }

    @Test func readersGetTheirDefaultForAWrongTypeAndRequiredOnesThrow() throws {
      settings["port"] = "eighty"
      let config = ConfigReader(provider: try KeepsakeProvider(settings))
      #expect(config.int(forKey: "port", default: 8080) == 8080)
      #expect(config.int(forKey: "missing") == nil)
      #expect(throws: KeepsakeProvider.WrongType.self) { try config.requiredInt(forKey: "port") }
    }

    // MARK: - Keys

    @Test func keysAreComparedByTheirBytesAndTheContextIsNoPartOfThem() throws {
      settings["caf\u{e9}"] = 1
      let provider = try KeepsakeProvider(settings)
      let composed = AbsoluteConfigKey(["caf\u{e9}"], context: ["region": "eu"])
      let found = try provider.value(forKey: composed, type: .int)
      #expect(found.value?.content == .int(1) && found.encodedKey == "caf\u{e9}")
      #expect(try provider.value(forKey: ["cafe\u{301}"], type: .int).value == nil)
    }

    @Test func aPrefixOfSwiftConfigurationLeadsIntoTheStore() throws {
      settings["server.http.port"] = 80
      let config = ConfigReader(
        provider: try KeepsakeProvider(settings).prefixKeys(with: "server"))
      #expect(config.int(forKey: "http.port") == 80)
      let scoped = ConfigReader(provider: try KeepsakeProvider(settings)).scoped(to: "server.http")
      #expect(scoped.int(forKey: "port") == 80)
    }

    @Test func everyLayerIsGiven() throws {
      final class AppSettings: UserDefaultsStore, @unchecked Sendable {
        @Setting var port = 80
        @Setting var host = "localhost"
      }
      let app = try AppSettings(
        on: device, arguments: LaunchArguments(["app", "-name", "ada"]))
      app.host = "example.org"
      app.register(defaults: ["size": 3])
      let config = ConfigReader(provider: try KeepsakeProvider(app))
      #expect(config.int(forKey: "port") == 80 && config.string(forKey: "host") == "example.org")
      #expect(config.string(forKey: "name") == "ada" && config.int(forKey: "size") == 3)
    }

    // MARK: - Secrets

    private final class Reporter: AccessReporter {
      let events = Mutex<[AccessEvent]>([])
      func report(_ event: AccessEvent) { events.withLock { $0.append(event) } }
    }

    @Test func secretsAreMarkedByTheRuleAndNeverShown() throws {
      settings["api.key"] = "s3cret"
      settings["name"] = "ada"
      let provider = try KeepsakeProvider(
        settings, secrets: .dynamic { key, value in key == "api.key" && value == "s3cret" })
      let reporter = Reporter()
      let config = ConfigReader(provider: provider, accessReporter: reporter)
      #expect(config.string(forKey: "api.key") == "s3cret")
      #expect(config.string(forKey: "name") == "ada")
      let results = reporter.events.withLock { $0.map(\.result) }
      #expect(try results.map { try $0.get()?.isSecret } == [true, false])
      for text in ["\(provider)", String(reflecting: provider), "\(results)", "\(config)"] {
        #expect(!text.contains("s3cret"), "\(text)")
      }
      #expect("\(provider)" == "KeepsakeProvider[defaults][2 values]")
    }
  }
#endif
