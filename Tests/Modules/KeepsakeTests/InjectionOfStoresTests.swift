// SPDX-License-Identifier: Apache-2.0

import Keepsake
import KeepsakeInjection
import SettingsFixture
import TestSupport
import Testing

@Suite struct InjectionOfStoresTests {
  final class Shared: CloudKeyValueStore, @unchecked Sendable { @Setting var theme = "light" }

  /// A part of an application, which asks for its settings by their type.
  final class Greeter: Sendable {
    private let settings: EverySetting
    private let shared: Shared

    init(settings: EverySetting, shared: Shared) {
      self.settings = settings
      self.shared = shared
    }

    var greeting: String { "\(settings.string), \(shared.theme)" }
  }

  private func application() -> Container {
    Container { c in
      c.register { _ in try Device.inMemory() }
      c.register { c in try EverySetting(on: c.get()) }
      c.register { c in try Shared(on: c.get()) }
      c.register(using: Greeter.init)
    }
  }

  @Test func settingsAreInjectedByTheirTypeOnOneDevice() throws {
    let container = application()
    let settings: EverySetting = try container.get()
    let shared: Shared = try container.get()
    #expect(settings.device === shared.device)
    settings.string = "ada"
    shared.theme = "dark"
    let greeter: Greeter = try container.get()
    #expect(greeter.greeting == "ada, dark")
  }

  /// Observes from its initialiser on, as a view model does.
  final class Watcher: Sendable {
    private let token: ObservationToken

    init(settings: EverySetting) { token = settings.observe(on: MainActor.self) { _ in } }
  }

  @Test func anObserverThatARecipeAddsDoesNotKeepTheContainer() throws {
    weak var gone: Container?
    do {
      let container = application()
      container.register(using: Watcher.init)
      gone = container
      _ = try container.get(Container.Key<Watcher>())
    }
    #expect(gone == nil)
  }

  @Test func aWholeApplicationIsCheckedWithoutOpeningAFile() throws {
    let container = application()
    #expect(throws: Never.self) { try container.validate() }
    let lacking = Container { $0.register(using: Greeter.init) }
    let error = #expect(throws: InjectionError.self) { try lacking.validate() }
    #expect(error?.problems.count == 2)
  }

  // MARK: - AcEnableUserDefaults, AcEnableCloudKeyValueStore

  private let enabled = Container(StoreModules.userDefaults, StoreModules.cloudKeyValueStore) { c in
    c.register { _ in try Device.inMemory() }
  }

  @Test("AcEnableUserDefaults: a plain store under its well-known key")
  func acEnableUserDefaults() throws {
    let store = try enabled.get(.userDefaults)
    #expect(type(of: store) == UserDefaultsStore.self)
    #expect(store.storeName == "defaults")
    #expect(try enabled.get(.userDefaults) === store)
    #expect(try enabled.get(Container.Key<UserDefaultsStore>()) === store)
    #expect(try store.device === enabled.get(Container.Key<Device>()))
  }

  @Test("AcEnableUserDefaults: seeded by the registered Settings bundle")
  func acEnableUserDefaultsWithABundle() throws {
    let small = try SmallBundle("size", default: 14)
    let url = small.url
    enabled.register { _ in try SettingsBundle(at: url) }
    #expect(try enabled.get(.userDefaults)["size"] == 14)
  }

  @Test("AcEnableCloudKeyValueStore: a plain store under its well-known key")
  func acEnableCloudKeyValueStore() throws {
    let store = try enabled.get(.cloudKeyValueStore)
    #expect(type(of: store) == CloudKeyValueStore.self)
    #expect(store.storeName == "cloud")
  }

  @Test("AcEnable…: the application's subclass serves both keys, whatever came first")
  func subclassServesBothKeys() throws {
    let first = Container { c in c.register { c in try Shared(on: c.get()) } }
    StoreModules.cloudKeyValueStore(first)
    first.register { _ in try Device.inMemory() }
    enabled.register { c in try Shared(on: c.get()) }
    for container in [first, enabled] {
      let shared: Shared = try container.get()
      #expect(try container.get(.cloudKeyValueStore) === shared)
    }
    #expect(try type(of: enabled.get(.userDefaults)) == UserDefaultsStore.self)
  }

  @Test("AcEnable…: of two subclasses the primary one, else an error that names both")
  func severalSubclasses() throws {
    final class Other: CloudKeyValueStore, @unchecked Sendable {}
    enabled.register { c in try Shared(on: c.get()) }
    enabled.register { c in try Other(on: c.get(), name: "other") }
    let error = #expect(throws: InjectionError.self) { try enabled.get(.cloudKeyValueStore) }
    #expect(error?.candidates == ["Shared", "Other"])
    let test = enabled.child(fresh: true) { c in
      c.register(primary: true) { c in try Other(on: c.get(), name: "test") }
    }
    #expect(try test.get(.cloudKeyValueStore).storeName == "cloud:test")
  }

  @Test("AcEnable…: a test puts its own device under them")
  func freshChildRemakesTheStores() throws {
    let device = try Device.inMemory()
    let test = try enabled.child(fresh: true) { try $0.set(device) }
    #expect(try test.get(.userDefaults).device === device)
    #expect(try enabled.get(.userDefaults).device !== device)
  }
}
