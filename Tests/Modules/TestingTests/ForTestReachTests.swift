// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Keepsake
import KeepsakeDevice
import KeepsakeInjection
import KeepsakeTesting
import Synchronization
import TestSupport
import Testing

private typealias Key = Container.Key

private struct Holder: Sendable {
  let device: Device
  func settings() throws -> AppSettings { try AppSettings(on: device, arguments: .none) }
}

/// The result of a closure that cannot throw.
private struct Attempt: Sendable {
  let device: Result<Device, any Error>
  init(_ path: String) { device = Result { try Device(path: path) } }
}

private struct Marker: Sendable {}

private final class Flag: Sendable {
  let isSet = Atomic(false)
}

/// The files that a container for a test must not reach, by whatever way a recipe takes to them.
@Suite struct ForTestReachTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/production.keepsake"
  }

  // MARK: - Files that are open already

  /// Registrations that hand out a store on a file that the application has opened.
  private static let captures = [
    Way("a captured store") { c, path in
      let store = try AppSettings(on: Device(path: path), arguments: .none)
      c.register { _ in store }
    },
    Way("a store on a captured device") { c, path in
      let holder = try Holder(device: Device(path: path))
      c.register { _ in try holder.settings() }
    },
    Way("a captured store, asynchronously") { c, path in
      let store = try AppSettings(on: Device(path: path), arguments: .none)
      c.register { _ async throws in store }
    },
    Way("a store on the device of an object that was set") { c, path in
      try c.set(Holder(device: Device(path: path)))
      c.register { c in try c.get(Key<Holder>()).settings() }
    },
    Way("the store of an object that was set, by an alias") { c, path in
      let store = try AppSettings(on: Device(path: path), arguments: .none)
      c.register { _ in Marker() }.as(Key<AppSettings>()) { _ in store }
      try c.set(Marker())
    },
    Way("an optional store") { c, path in
      let store: AppSettings? = try AppSettings(on: Device(path: path), arguments: .none)
      c.register { _ in store }
      c.register { c in try c.get(Key<AppSettings?>()) ?? AppSettings(on: c.get()) }
    },
    Way("a store that a recipe sets") { c, path in
      let store = try AppSettings(on: Device(path: path), arguments: .none)
      try c.set(nil, for: Key<AppSettings>("set"))
      c.register(primary: true) { c in
        try c.set(store, for: Key("set"))
        return try c.get(Key<AppSettings>("set"))
      }
    },
    Way("a store of a recipe that a recipe registers") { c, path in
      let store = try AppSettings(on: Device(path: path), arguments: .none)
      c.register { c in try c.child { $0.register { _ in store } }.get(Key<AppSettings>()) }
    },
    Way("a store on the device of another container") { c, path in
      let other = Container { $0.register { _ in try Device(path: path) } }
      _ = try other.get(Key<Device>())
      c.register { _ in try AppSettings(on: other.get(), arguments: .none) }
    },
    Way("a store that a detached task opens") { c, path in
      c.register { _ async throws in
        try await Task.detached { try AppSettings(on: Device(path: path)) }.value
      }
    },
    Way("a store that a queue opens") { c, path in
      c.register { _ in
        let opened = Mutex<Result<AppSettings, any Error>?>(nil)
        let group = DispatchGroup()
        DispatchQueue(label: "opener").async(group: group) {
          let store = Result { try AppSettings(on: Device(path: path)) }
          opened.withLock { $0 = store }
        }
        group.wait()
        return try (opened.withLock { $0 } ?? .failure(CancellationError())).get()
      }
    },
  ]

  @Test(arguments: captures)
  func noStoreOnAFileOfTheApplicationIsHandedOut(way: Way) async throws {
    let test = try way.register(Container(), path).forTest()
    for container in [test, test.child(), test.child(fresh: true)] {
      let error = await #expect(throws: KeepsakeError.self) {
        try await container.resolve(Key<AppSettings>())
      }
      #expect(error?.code == .permissionDenied)
    }
    #expect(throws: (any Error).self) { try test.make(Key<AppSettings>()) }
    #expect(throws: (any Error).self) { try test.all(AppSettings.self) }
  }

  @Test func theErrorSaysWhatToDo() throws {
    let store = try AppSettings(on: Device(path: path), arguments: .none)
    let test = try Container { $0.register { _ in store } }.forTest()
    let error = #expect(throws: KeepsakeError.self) { try test.get(Key<AppSettings>()) }
    #expect(
      error?.description
        == path + ": a recipe hands out this open file in a container for a test; take the "
        + "registered Device from the container, as in `AppSettings(on: c.get())`, or `set` the "
        + "test's own")
  }

  @Test func recipesMayUseTheFilesThatTheTestSetsOrRegisters() throws {
    let app = Container { c in
      c.register { c in try Holder(device: c.get()) }
      c.register { c in try c.get(Key<Holder>()).settings() }
      c.register(Key("same")) { c in try c.get(Key<AppSettings>(nil)) }
    }
    app.register(Key("other")) { c in try AppSettings(on: c.get(Key<Holder>()).device) }
    let path = path
    for test in [
      try app.forTest { try $0.set(Device(path: path)) },
      try app.forTest { $0.register(scope: .transient) { _ in try Device(path: path) } },
    ] {
      for container in [test, test.child(fresh: true)] {
        #expect(try container.get(Key<AppSettings>("other")).device.path == path)
      }
    }
  }

  // MARK: - Files that are not open

  /// Registrations that would open a file.
  private static let openers = [
    Way("another container") { c, path in
      let other = Container { $0.register { _ in try Device(path: path) } }
      c.register { _ in try AppSettings(on: other.get()) }
    },
    Way("the start of another container") { c, path in
      let other = Container { $0.register { _ in try Device(path: path) } }
      c.register { _ async throws in
        try await other.start()
        return try AppSettings(on: other.get())
      }
    },
    Way("a captured copy of its own container") { c, path in
      c.register { _ in try Device(path: path) }
      let copy = c.child(fresh: true)
      c.register { _ in try AppSettings(on: copy.get()) }
    },
    Way("the start of its own container") { c, path in
      c.register { _ async throws in try Device(path: path) }
      c.register { [c] _ async throws in
        try await c.start()
        return try AppSettings(on: c.get())
      }
    },
  ]

  @Test(arguments: openers)
  func noFileIsOpenedOnADetour(way: Way) async throws {
    let test = try way.register(Container(), path).forTest()
    await #expect(throws: (any Error).self) { try await test.resolve(Key<AppSettings>()) }
    await #expect(throws: (any Error).self) { try await test.start() }
    #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.path) == [])
  }

  @Test func theClosureOfAnAliasOpensNoFile() throws {
    let path = path
    let app = Container { c in
      c.register { _ in Marker() }.as(Key<Attempt>()) { _ in Attempt(path) }
    }
    let attempt: Attempt = try app.forTest().get()
    expectError(.permissionDenied) { try attempt.device.get() }
    #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.path) == [])
  }

  @Test func aTaskThatOutlivesItsRecipeOpensNoFileByAnotherContainer() async throws {
    let path = path
    let other = Container { $0.register { _ in try Device(path: path) } }
    let isMade = Flag()
    let app = Container { c in
      c.register { _ in
        Task {
          while !isMade.isSet.load(ordering: .acquiring) { await Task.yield() }
          return try other.get(Key<Device>())
        }
      }
    }
    let task: Task<Device, any Error> = try app.forTest().get()
    isMade.isSet.store(true, ordering: .releasing)
    let error = await #expect(throws: KeepsakeError.self) { try await task.value }
    #expect(error?.code == .permissionDenied)
    #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.path) == [])
  }

  @Test func aTestsOwnRecipeMayOpenAFileByAnotherContainer() throws {
    let path = path
    let other = Container { $0.register { _ in try Device(path: path) } }
    let app = Container { c in
      c.register { _ in try Device(path: "/nowhere/production.keepsake") }
      c.register { c in try AppSettings(on: c.get(), arguments: .none) }
    }
    let test = try app.forTest { $0.register { _ in try other.get(Key<Device>()) } }
    #expect(try test.get(Key<AppSettings>()).device.path == path)
  }

  @Test func aRecipeRecoversNoFile() throws {
    let path = path
    try Data("damaged".utf8).write(to: URL(fileURLWithPath: path))
    let app = Container { c in
      c.register { _ in
        try Device.recover(at: URL(fileURLWithPath: path)) { _ in
          Issue.record("the recovery has begun")
          return .startEmpty
        } ?? URL(fileURLWithPath: path)
      }
    }
    expectError(.permissionDenied) { try app.forTest().get(Key<URL>()) }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("damaged".utf8))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["production.keepsake"])
  }
}
