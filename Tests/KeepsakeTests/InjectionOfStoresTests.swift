// SPDX-License-Identifier: Apache-2.0

import Keepsake
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

  @Test func aTestPutsItsOwnDeviceUnderTheSettings() throws {
    let container = application()
    let real: EverySetting = try container.get()
    real.string = "real"
    let device = try Device.inMemory()
    try EverySetting(on: device).string = "test"
    let child = try container.child(fresh: true) { try $0.set(device) }
    #expect(try (child.get() as Greeter).greeting == "test, light")
    #expect(try (container.get() as Greeter).greeting == "real, light")
  }

  @Test func parallelTestsNeverSeeEachOthersSettings() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for name in ["a", "b", "c", "d"] {
        group.addTask {
          try await Container.withOverrides { overrides in
            let device = try Device.inMemory()
            try EverySetting(on: device).string = name
            try overrides.set(try EverySetting(on: device))
          } perform: {
            for _ in 0..<50 {
              let settings: EverySetting = try Container.current.get()
              #expect(settings.string == name)
              await Task.yield()
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func aWholeApplicationIsCheckedWithoutOpeningAFile() throws {
    let container = application()
    #expect(throws: Never.self) { try container.validate() }
    let lacking = Container { $0.register(using: Greeter.init) }
    let error = #expect(throws: InjectionError.self) { try lacking.validate() }
    #expect(error?.problems.count == 2)
  }
}
