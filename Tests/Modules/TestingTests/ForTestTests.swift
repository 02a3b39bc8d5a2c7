// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import KeepsakeInjection
import KeepsakeTesting
import Synchronization
import TestSupport
import Testing

private typealias Key = Container.Key

private protocol Opener: Sendable { var device: Device { get } }

private final class Files: Opener {
  let device: Device
  init(_ path: String) throws { device = try Device(path: path) }
}

private struct Factory: Sendable {
  let path: String
  func device() throws -> Device { try Device(path: path) }
}

private final class Late: Injectable, Sendable {
  let path: String
  let error = Mutex<KeepsakeError?>(nil)
  init(_ path: String) { self.path = path }
  func didInject() {
    do throws(KeepsakeError) {
      _ = try Device(path: path)
    } catch {
      self.error.withLock { $0 = error }
    }
  }
}

/// A way to register a device, or what opens one.
struct Way: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// Registers it in a container, and returns the container that the application uses.
  let register: Register

  typealias Register = @Sendable (Container, String) throws -> Container

  init(_ description: String, _ register: @escaping @Sendable (Container, String) throws -> Void) {
    testDescription = description
    self.register = { app, path in
      try register(app, path)
      return app
    }
  }

  private init(_ description: String, returning register: @escaping Register) {
    (testDescription, self.register) = (description, register)
  }

  /// One of which the application uses another container.
  static func inContainer(_ description: String, _ register: @escaping Register) -> Way {
    Way(description, returning: register)
  }
}

/// Whatever the application registers, its container for a test opens none of its files.
@Suite struct ForTestTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path + "/production.keepsake" }
  init() throws { folder = try TemporaryFolder() }

  /// Registrations of a device, which a test replaces.
  private static let devices = [
    Way("without a name") { c, path in c.register { _ in try Device(path: path) } },
    Way("with a name") { c, path in
      c.register(Key("production")) { _ in try Device(path: path) }
    },
    Way("the primary one of several") { c, path in
      c.register(Key("archive")) { _ in try Device(path: path + ".archive") }
      c.register(Key("production"), primary: true) { _ in try Device(path: path) }
    },
    Way("under two names") { c, path in
      c.register(Key("production")) { _ in try Device(path: path) }
        .as(Key<Device>("device")) { $0 }
        .as(Key<any Sendable>("device")) { $0 }
    },
    Way("as an alias of another object") { c, path in
      c.register { _ in try Files(path) }.as(Key<Device>()) { $0.device }
    },
    Way("by a factory") { c, path in
      c.register { _ in Factory(path: path) }
      c.register { c in try c.get(Key<Factory>()).device() }
    },
    Way("transient") { c, path in
      c.register(scope: .transient) { _ in try Device(path: path) }
    },
    Way("weak") { c, path in c.register(scope: .weak) { _ in try Device(path: path) } },
    Way("asynchronous") { c, path in
      c.register { _ async throws in try Device(path: path) }
    },
    Way("on the main actor") { c, path in
      c.register { @MainActor _ in try Device(path: path) }
    },
    Way("set") { c, path in try c.set(Device(path: path)) },
    Way("set for a name") { c, path in
      try c.set(Device(path: path), for: Key("production"))
    },
    Way("set in place of a recipe") { c, path in
      c.register(Key("production")) { _ in try Device(path: path + ".recipe") }
      try c.set(Device(path: path))
    },
    .inContainer("in a parent") { c, path in
      c.register(Key("production")) { _ in try Device(path: path) }
      return c.child()
    },
    .inContainer("set in a child") { c, path in
      c.register(Key("production")) { _ in try Device(path: path + ".parent") }
      return try c.child { try $0.set(Device(path: path)) }
    },
  ]

  private static func files(in folder: TemporaryFolder) throws -> [String] {
    var paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    #if os(Linux)
      for number in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
        // The descriptor of the listing itself is closed by now.
        guard
          let path = try? FileManager.default.destinationOfSymbolicLink(
            atPath: "/proc/self/fd/" + number)
        else { continue }
        if path.hasPrefix(folder.path) { paths.append("open: " + path) }
      }
    #endif
    return paths.sorted()
  }

  @Test(arguments: devices)
  func aRegisteredDeviceIsInMemory(way: Way) async throws {
    let app = Container()
    app.register { c in try AppSettings(on: c.get(), arguments: .none) }
    let source = try way.register(app, path)
    let before = try Self.files(in: folder)

    let test = try source.forTest()
    do {
      try await test.start()
    } catch let error as KeepsakeError {
      // An object beside the device opens the file.
      #expect(error.code == .permissionDenied)
    }
    let settings: AppSettings = try await test.resolve()
    settings.username = "ada"
    #expect(settings.username == "ada")
    #expect(settings.device.path == "(memory)")
    for device in try test.all(Device.self) { #expect(device.path == "(memory)") }
    #expect(try settings.device === test.get(Key<Device>()))
    #expect(try test.make(Key<AppSettings>()).device.path == "(memory)")

    #expect(try Self.files(in: folder) == before)
    if before.contains("production.keepsake") {
      #expect(try AppSettings(on: Device(path: path), arguments: .none).username == "guest")
    }
  }

  /// Recipes that open a file themselves.
  private static let openers = [
    Way("the store's recipe") { c, path in
      c.register { _ in try AppSettings(on: Device(path: path)) }
    },
    Way("the recipe of a subclass") { c, path in
      StoreModules.userDefaults(c)
      c.register { _ in try AppSettings(on: Device(path: path)) }
    },
    Way("a protocol") { c, path in
      c.register(Key<any Opener>()) { _ in try Files(path) }
      c.register { c in try AppSettings(on: c.get(Key<any Opener>()).device) }
    },
    Way("an optional device") { c, path in
      c.register { _ -> Device? in try Device(path: path) }
      c.register { c in
        try AppSettings(on: c.get(Key<Device?>()) ?? Device(path: path + ".other"))
      }
    },
    Way("a function") { c, path in
      c.register { _ -> @Sendable () throws -> Device in { try Device(path: path) } }
      c.register { c in try AppSettings(on: c.get(Key<@Sendable () throws -> Device>())()) }
    },
    Way("an asynchronous recipe") { c, path in
      c.register { _ async throws -> AppSettings in
        await Task.yield()
        return try AppSettings(on: Device(path: path))
      }
    },
    Way("then") { c, path in
      c.register(
        make: { c in try AppSettings(on: c.get()) }, then: { _, _ in _ = try Device(path: path) })
    },
    Way("a child that a recipe makes") { c, path in
      c.register { c in
        try AppSettings(on: c.child { $0.register { _ in try Device(path: path) } }.get())
      }
    },
    Way("a container that a recipe captures") { c, path in
      c.register { [c] _ in
        try c.set(Device(path: path))
        return try AppSettings(on: c.get())
      }
    },
    Way("a device of an identifier") { c, path in
      c.register { _ in
        try AppSettings(on: Device(identifier: "app", in: URL(fileURLWithPath: path + ".folder")))
      }
    },
  ]

  @Test(arguments: openers)
  func aRecipeThatOpensAFileThrows(way: Way) async throws {
    let test = try way.register(Container(), path).forTest()
    await #expect(throws: (any Error).self) { try await test.resolve(Key<AppSettings>()) }
    await #expect(throws: (any Error).self) { try await test.start() }
    #expect(throws: (any Error).self) { try test.make(Key<AppSettings>()) }
    await #expect(throws: (any Error).self) {
      try await test.child(fresh: true).resolve(Key<AppSettings>())
    }
    #expect(try Self.files(in: folder) == [])
  }

  @Test func theErrorSaysWhatToDo() throws {
    let app = Container { c in
      c.register { _ in try AppSettings(on: Device(path: "/nowhere/production.keepsake")) }
    }
    let error = #expect(throws: KeepsakeError.self) { try app.forTest().get(Key<AppSettings>()) }
    #expect(error?.code == .permissionDenied)
    #expect(
      error?.description
        == "/nowhere/production.keepsake: a recipe opens this file in a container for a test; "
        + "take the registered Device from the container, as in `AppSettings(on: c.get())`")
  }

  @Test func anObjectThatIsToldOfItsInjectionOpensNoFile() throws {
    let app = Container { c in c.register { _ in Late(folder.path + "/production.keepsake") } }
    let late: Late = try app.forTest().get()
    #expect(late.error.withLock { $0 }?.code == .permissionDenied)
    #expect(try Self.files(in: folder) == [])
  }

  @Test func aStoreThatWasSetIsNotShared() throws {
    let production = try AppSettings(
      on: Device(path: folder.path + "/production.keepsake"), arguments: .none)
    let app = Container { $0.register(using: Login.init) }
    try app.set(production)
    let test = try app.forTest()
    let error = #expect(throws: InjectionError.self) { try test.get(Key<Login>()) }
    #expect(error?.cure == "It is registered but not set: call `set`.")
    try test.set(AppSettings(on: test.get(), arguments: .none))
    try test.get(Key<Login>()).run(as: "ada")
    #expect(production.username == "guest")
  }

  @Test func theTestsOwnRecipesMayOpenFiles() throws {
    let path = folder.path + "/test.keepsake"
    let app = Container { c in
      c.register { _ in try Device(path: folder.path + "/production.keepsake") }
      c.register { c in try AppSettings(on: c.get(), arguments: .none) }
    }
    let test = try app.forTest { $0.register { _ in try Device(path: path) } }
    #expect(try test.get(Key<AppSettings>()).device.path == path)
    let other = try app.forTest { try $0.set(Device.temporary()) }
    #expect(try other.get(Key<AppSettings>()).device !== test.get(Key<Device>()))
  }

  @Test func theApplicationItselfOpensItsFile() throws {
    let app = Container { c in
      c.register { _ in try Device(path: path) }
      c.register { c in try AppSettings(on: c.get(), arguments: .none) }
    }
    _ = try app.forTest().get(Key<AppSettings>())
    #expect(try app.get(Key<AppSettings>()).device.path == path)
  }
}
