// SPDX-License-Identifier: Apache-2.0
//
// The providers of swift-configuration as layers of a store.

#if Configuration
  import Configuration
  import ConfigurationKeepsake
  import Foundation
  import Keepsake
  import KeepsakeTesting
  import TestSupport
  import Testing

  private final class Server: UserDefaultsStore, @unchecked Sendable {
    @Setting("http.port") var port = 80
    @Setting("isLoud") var isLoud = false
    @Setting var ratio = 0.5
    @Setting var name = "guest"
    @Setting var tags: [String] = []
    @Setting var sizes: [Int] = []
    @Setting var magic = Data()
    @Setting var since = Date(timeIntervalSinceReferenceDate: 0)
  }

  @Suite struct ProviderLayerTests {
    private let device: Device

    init() throws { device = try Device.inMemory() }

    private func server(_ layers: SettingsLayer...) throws -> Server {
      try Server(on: device, layers: layers, arguments: .none)
    }

    @Test func environmentVariables() throws {
      let environment = EnvironmentVariablesProvider(environmentVariables: [
        "HTTP_PORT": "81", "IS_LOUD": "yes", "RATIO": "1.5", "NAME": "7", "TAGS": "a,b",
        "SIZES": "1,2", "MAGIC": "bWFnaWM=", "SINCE": "2001-01-01T00:00:07Z",
      ])
      let server = try server(.managed(by: [environment]))
      #expect(server.port == 81 && server.isLoud && server.ratio == 1.5 && server.name == "7")
      #expect(server.tags == ["a", "b"] && server.sizes == [1, 2])
      #expect(server.magic == Data("magic".utf8))
      #expect(server.since.timeIntervalSinceReferenceDate == 7)
      #expect(
        try "\(server.$port.explain())" == """
          "http.port" in "defaults": "81"
          * managed: "81", "HTTP_PORT" of EnvironmentVariablesProvider
            default of the property: 80
          """)
      let error = #expect(throws: KeepsakeError.self) { try server.$port.write(82) }
      #expect(try error?.code == .managed && server.$port.isManaged && server.failures.isEmpty)
    }

    @Test func theCommandLine() throws {
      let line = CommandLineArgumentsProvider(arguments: [
        "program", "--http-port", "81", "--is-loud", "--tags", "a", "b", "--name=ada",
      ])
      let server = try server(.managed(by: [line]))
      #expect(server.port == 81 && server.isLoud && server.tags == ["a", "b"])
      #expect(server.name == "ada" && server.ratio == 0.5 && server.failures.isEmpty)
      #expect(
        try server.$isLoud.explain().inForce?.source
          == server.explain("isLoud").inForce?.source)
      #expect("\(try server.explain("isLoud"))".contains("\"--is-loud\" of CommandLineArguments"))
    }

    @Test func aFileOfJSON() async throws {
      let folder = try Folder()
      let path = "\(folder.path)/settings.json"
      try Data(
        """
        {"http": {"port": 81}, "isLoud": true, "ratio": 2, "name": "ada", "tags": ["a"],
         "sizes": [1, 2], "magic": "bWFnaWM=", "since": "2001-01-01T00:00:07Z", "none": null}
        """.utf8
      ).write(to: URL(filePath: path))
      let file = try await FileProvider<JSONSnapshot>(filePath: .init(path))
      let server = try server(.defaults(from: [file]))
      #expect(server.port == 81 && server.isLoud && server.ratio == 2 && server.name == "ada")
      #expect(server.tags == ["a"] && server.sizes == [1, 2])
      #expect(server.magic == Data("magic".utf8))
      #expect(server.since.timeIntervalSinceReferenceDate == 7 && server["none"] == nil)
      #expect(
        "\(try server.explain("http.port"))".contains(
          "* given default: 81, \"http.port\" of \(file.providerName)\n"))
      server.port += 1
      #expect(server.port == 82 && server["http.port"] == 82 && server.failures.isEmpty)
      try server.$port.reset()
      #expect(server.port == 81)
    }

    @Test func theFirstProviderThatHasAValueGivesIt() throws {
      let environment = EnvironmentVariablesProvider(environmentVariables: ["NAME": "ada"])
      let memory = InMemoryProvider(name: "m", values: ["name": "bob", "ratio": 0.25])
      let server = try server(.managed(by: [environment, memory]))
      #expect(server.name == "ada" && server.ratio == 0.25)
      #expect("\(try server.explain("ratio"))".contains("\"ratio\" of InMemoryProvider[m]"))
    }

    @Test func aPrefixAndAListOfKeysKeepTheRestOfTheEnvironmentOut() throws {
      let environment = EnvironmentVariablesProvider(environmentVariables: [
        "NAME": "root", "APP_NAME": "ada", "RATIO": "2",
      ])
      let prefixed = try server(.managed(by: [environment.prefixKeys(with: "app")]))
      #expect(prefixed.name == "ada" && prefixed.ratio == 0.5)
      let some = try server(.managed(by: [environment], keys: ["ratio"]))
      #expect(some.name == "guest" && some.ratio == 2)
    }

    @Test func aWrongTypeIsReported() throws {
      let memory = InMemoryProvider(values: ["http.port": "eighty", "isLoud": 1, "name": 7])
      let server = try server(.managed(by: [memory]))
      #expect(server.port == 80 && !server.isLoud && server.name == "guest")
      #expect(server.failures.map(\.key) == ["http.port", "isLoud", "name"])
      #expect(server.failures.allSatisfy { $0.provider?.name == "InMemoryProvider[]" })
    }

    @Test func whatAProviderGivesAsNoTypeIsReportedAndHidesWhatIsBelow() throws {
      let source = try UserDefaultsStore(on: .inMemory(), arguments: .none)
      source["since"] = .date(Date(timeIntervalSinceReferenceDate: 7))
      source["name"] = "ada"
      let server = try server(.managed(by: [try KeepsakeProvider(source, name: "s")]))
      server["ratio"] = 2.5
      #expect(server.name == "ada" && server.ratio == 2.5)
      let error = #expect(throws: KeepsakeError.self) { try server.$since.read() }
      #expect(
        error?.problem
          == "\"since\" of KeepsakeProvider[s] cannot be read: it is given as no type")
    }

    @Test func secretsOfAProviderAreNeverShown() throws {
      let environment = EnvironmentVariablesProvider(
        environmentVariables: ["NAME": "s3cret", "HTTP_PORT": "s3cret"],
        secretsSpecifier: .specific(["NAME", "HTTP_PORT"]))
      let server = try server(.managed(by: [environment]))
      #expect(server.name == "s3cret" && server.port == 80 && server.failures.count == 1)
      for text in ["\(server.failures)", "\(try server.explain("name"))"] {
        #expect(!text.contains("s3cret"), "\(text)")
      }
    }

    @Test func aProviderOverTheStoreKnowsTheSecretsOfItsLayers() async throws {
      let memory = MutableInMemoryProvider(initialValues: [
        "name": ConfigValue(.string("s3cret"), isSecret: true), "ratio": 2.5,
      ])
      let server = try server(.managed(by: [memory]))
      let provider = try KeepsakeProvider(server)
      #expect(try provider.value(forKey: "name", type: .string).value?.isSecret == true)
      #expect(try await provider.fetchValue(forKey: "name", type: .string).value?.isSecret == true)
      #expect(try provider.value(forKey: "ratio", type: .double).value?.isSecret == false)
    }

    // MARK: - Reloads

    @Test func aReloadIsHeard() async throws {
      let memory = MutableInMemoryProvider(initialValues: ["http.port": 81, "name": "ada"])
      let server = try server(.managed(by: [memory]))
      let changes = ChangeRecorder(server)
      #expect(server.port == 81)
      memory.setValue(82, forKey: "http.port")
      let first = try await changes.next("http.port")
      #expect(changes.all.count == 1 && first.reason == .reload)
      #expect(first.old == 81 && first.new == 82 && server.port == 82)
      memory.setValue(nil, forKey: "http.port")
      #expect(try await changes.next("http.port").new == nil)
      #expect(server.port == 80 && !server.isManaged("http.port"))
      server.port = 90
      #expect(server.port == 90 && server.name == "ada" && server.failures.isEmpty)
    }

    @Test func aProviderOverTheStoreHearsAReload() async throws {
      let memory = MutableInMemoryProvider(initialValues: ["http.port": 81])
      let server = try server(.managed(by: [memory]))
      let config = ConfigReader(provider: try KeepsakeProvider(server))
      try await config.watchInt(forKey: "http.port") { ports in
        var ports = ports.makeAsyncIterator()
        let first = await ports.next(isolation: #isolation)
        memory.setValue(82, forKey: "http.port")
        let second = await ports.next(isolation: #isolation)
        #expect(first == 81 && second == 82)
      }
    }

    @Test func aWatchEndsWithItsLayerAndAFailedOneIsReported() async throws {
      let (failing, ended) = (Watched(), Watched())
      let server = try server(.managed(by: [failing]))
      let (reported, reporting) = AsyncStream<SettingFailure>.makeStream()
      let token = server.observeFailures { reporting.yield($0) }
      failing.fail()
      var failures = reported.makeAsyncIterator()
      let failure = await failures.next()
      #expect(failure?.operation == .reload && failure.map { "\($0)" }?.contains("s3cret") == false)
      token.cancel()
      var layer: SettingsLayer? = .managed(by: [ended])
      #expect(layer != nil)
      layer = nil
      await ended.waitForEnd()
    }
  }

  /// A provider of nothing whose watch fails when it is told to, and tells of its end.
  private struct Watched: ConfigProvider, ConfigSnapshot {
    struct Failed: Error { let secret = "s3cret" }
    let providerName = "Watched"
    private let updates = AsyncStream<Void>.makeStream()
    private let end = AsyncStream<Void>.makeStream()

    func fail() { updates.continuation.yield() }
    func waitForEnd() async { for await _ in end.stream { return } }
    func snapshot() -> any ConfigSnapshot { self }

    func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
      LookupResult(encodedKey: key.description, value: nil)
    }

    func fetchValue(
      forKey key: AbsoluteConfigKey, type: ConfigType
    ) async throws -> LookupResult { try value(forKey: key, type: type) }

    func watchValue<Return: ~Copyable>(
      forKey key: AbsoluteConfigKey, type: ConfigType,
      updatesHandler: (
        _ updates: ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>
      ) async throws -> Return
    ) async throws -> Return { throw Failed() }

    func watchSnapshot<Return: ~Copyable>(
      updatesHandler: (
        _ updates: ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>
      ) async throws -> Return
    ) async throws -> Return {
      for await _ in updates.stream { throw Failed() }
      end.continuation.yield()
      throw CancellationError()
    }
  }
#endif
