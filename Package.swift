// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
  name: "Keepsake",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [
    .library(name: "Keepsake", targets: ["Keepsake"]),
    .library(name: "KeepsakeHub", targets: ["KeepsakeHub"]),
    .library(name: "ConfigurationKeepsake", targets: ["ConfigurationKeepsake"]),
    .library(name: "KeepsakeServer", targets: ["KeepsakeServer"]),
    .library(name: "KeepsakeInjection", targets: ["KeepsakeInjection"]),
    .library(name: "KeepsakeTesting", targets: ["KeepsakeTesting"]),
    .executable(name: "kvsync", targets: ["kvsync"]),
    .executable(name: "kvsync-hub", targets: ["kvsync-hub"]),
  ],
  // An application neither clones nor builds what is behind a trait that it does not name.
  traits: [
    .default(enabledTraits: ["Commands"]),
    .trait(name: "Commands", description: "The command kvsync."),
    .trait(name: "Hub", description: "The server of kvsync hub.", enabledTraits: ["Commands"]),
    .trait(name: "PostgreSQL", description: "A hub over PostgreSQL.", enabledTraits: ["Hub"]),
    .trait(name: "Configuration", description: "The product ConfigurationKeepsake."),
    .trait(name: "Server", description: "The product KeepsakeServer."),
  ],
  dependencies: [
    // The first versions that are Sendable where Swift 6 asks; tests run with the newest.
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    .package(
      url: "https://github.com/apple/swift-configuration", from: "1.2.0",
      traits: ["JSON", "CommandLineArguments"]),
  ],
  swiftLanguageModes: [.v6]
)

// MARK: - Dependencies

typealias Dependencies = [Target.Dependency]

var sqlite: Target.Dependency { "CSQLite" }
let argumentParser = product("ArgumentParser", "swift-argument-parser", with: "Commands")
var logging: Target.Dependency { product("Logging", "swift-log") }
var sync: Dependencies { ["KeepsakeSessions", "KeepsakeSync", "KeepsakeDevice", "KeepsakeValues"] }
// Dependencies of tests.
var commands: Dependencies { ["kvsync", "kvsync-hub"] }
var commandLine: Dependencies { sync + ["KeepsakeCommandLine"] }
var device: Dependencies { ["KeepsakeDevice", "KeepsakeValues", "TestSupport"] }
var hub: Dependencies {
  sync + ["KeepsakeHub", "KeepsakeHubServer", "HubScript", "HubSupport", "TestSupport"]
}
var hubServer: Dependencies { ["KeepsakeHubServer", "HubStoreSupport", "TestSupport"] }

/// A product of another package, with a condition if a trait is named.
func product(
  _ name: String, _ package: String, with trait: String? = nil
) -> Target.Dependency {
  guard let trait else { return .product(name: name, package: package) }
  return .product(name: name, package: package, condition: .when(traits: [trait]))
}

func target(_ name: String, with trait: String) -> Target.Dependency {
  .target(name: name, condition: .when(traits: [trait]))
}

// MARK: - Kinds of targets

/// A library; `Sources/Values` has the module `KeepsakeValues` unless another folder is named.
func library(
  _ name: String, _ dependencies: Dependencies = [], in folder: String? = nil,
  excluding others: [String] = [], embedding files: [String] = [], linking library: String? = nil
) -> Target {
  .target(
    name: name, dependencies: dependencies,
    path: folder ?? "Sources/" + name.replacing(/^Keepsake(?=.)/, with: ""), exclude: others,
    resources: files.map { .embedInCode($0) },
    linkerSettings: library.map { [.linkedLibrary($0)] })
}

func program(
  _ name: String, _ dependencies: Dependencies, in folder: String? = nil,
  excluding others: [String] = []
) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: folder ?? "Sources/\(name)", exclude: others)
}

func support(
  _ name: String, _ dependencies: Dependencies = [], linking other: String? = nil
) -> Target {
  library(name, dependencies, in: "Tests/Support/\(name)", linking: other)
}

func test(
  _ name: String, _ dependencies: Dependencies, in folder: String = "Tests/Modules",
  excluding others: [String] = []
) -> Target {
  .testTarget(
    name: name, dependencies: dependencies, path: "\(folder)/\(name)", exclude: others)
}

// MARK: - Libraries and programs

package.targets += [
  library(
    "KeepsakeMigrations", in: "Migrations", excluding: ["Hub", "Postgres", "SHIPPED"],
    embedding: ["V001_initial.sql", "Schema.txt"]),
  library(
    "KeepsakeHubMigrations", in: "Migrations/Hub", excluding: ["SHIPPED"],
    embedding: ["V001_initial.sql"]),
  library(
    "KeepsakePostgresMigrations", in: "Migrations/Postgres", excluding: ["SHIPPED"],
    embedding: ["V001_initial.sql"]),
  .systemLibrary(
    name: "CSQLite", path: "Sources/CSQLite",
    providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
  library("CKeepsake", linking: "sqlite3"),
  library("KeepsakeInjection"),
  library("KeepsakeValues"),
  library("KeepsakeSettingsBundle", ["KeepsakeValues"]),
  // What the commands alone read and write; no application links it, but a fuzzer does.
  library("KeepsakeFormats", ["KeepsakeSettingsBundle", "KeepsakeValues"]),
  library("KeepsakeStorage", ["KeepsakeValues", "KeepsakeMigrations", "CKeepsake", sqlite]),
  library("KeepsakeDevice", ["KeepsakeStorage", "KeepsakeValues"]),
  library("KeepsakeSync", ["KeepsakeDevice", "KeepsakeValues"], excluding: ["README.md"]),
  library("KeepsakeSessions", ["KeepsakeSync", "KeepsakeDevice", "KeepsakeValues"]),
  library("CCurl"),
  // The device's side of a hub.
  library(
    "KeepsakeHub", sync + [.target(name: "CCurl", condition: .when(platforms: [.linux]))]),
  // The hub's side: its rules over any database, in a file, over HTTP, in PostgreSQL.
  library("KeepsakeHubServer", ["KeepsakeValues"]),
  library(
    "KeepsakeHubFile",
    ["KeepsakeHubServer", "KeepsakeHubMigrations", "KeepsakeStorage", "KeepsakeValues"]),
  library(
    "KeepsakeHubHTTP",
    [
      "KeepsakeHubServer", "KeepsakeValues", logging,
      product("Hummingbird", "hummingbird", with: "Hub"),
      product("ServiceLifecycle", "swift-service-lifecycle", with: "Hub"),
    ]),
  .systemLibrary(
    name: "CPostgres", path: "Sources/CPostgres", pkgConfig: "libpq",
    providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
  library(
    "KeepsakePostgres",
    [
      "KeepsakeHubServer", "KeepsakePostgresMigrations", target("CPostgres", with: "PostgreSQL"),
    ]),
  library(
    "Keepsake",
    sync + ["KeepsakeInjection", "KeepsakeSettingsBundle", "CKeepsake", logging]),
  library(
    "ConfigurationKeepsake",
    [
      "Keepsake", "KeepsakeValues",
      product("Configuration", "swift-configuration", with: "Configuration"),
    ], in: "Sources/Configuration"),
  library(
    "KeepsakeServer",
    [
      "Keepsake", "KeepsakeDevice", "KeepsakeHub",
      product("Metrics", "swift-metrics", with: "Server"),
      product("ServiceLifecycle", "swift-service-lifecycle", with: "Server"),
    ]),
  library("KeepsakeTesting", sync + ["Keepsake", "KeepsakeInjection", sqlite]),
  library(
    "KeepsakeCommandLine",
    sync + ["KeepsakeFormats", "KeepsakeSettingsBundle", argumentParser]),
  program(
    "kvsync",
    sync + [
      "KeepsakeCommandLine", "Keepsake", "KeepsakeSettingsBundle", "KeepsakeFormats",
      argumentParser,
    ]),
  // kvsync executes it, so that `kvsync get` loads no networking.
  program(
    "kvsync-hub",
    sync + [
      "KeepsakeCommandLine", "KeepsakeFormats", "KeepsakeHub", argumentParser, logging,
      target("KeepsakeHubFile", with: "Hub"), target("KeepsakeHubHTTP", with: "Hub"),
      target("KeepsakeHubServer", with: "Hub"), target("KeepsakePostgres", with: "PostgreSQL"),
    ]),
]

// MARK: - Examples

/// The programs of the README and of the articles, which tests run.
package.targets += ["hello", "beside-userdefaults", "main-actor"].map {
  program($0, ["Keepsake"], in: "Examples/\($0)")
}
package.targets += [
  program(
    "two-devices", ["Keepsake", "KeepsakeInjection"], in: "Examples/two-devices",
    excluding: ["Settings.bundle", "play"]),
  program("two-screens", ["KeepsakeInjection"], in: "Examples/two-screens"),
  program("reading-list", ["Keepsake"], in: "Examples/reading-list/Sources/reading-list"),
]

// MARK: - Tests

package.targets += [
  support(
    "TestSupport",
    ["KeepsakeTesting", "KeepsakeDevice", "KeepsakeMigrations", "KeepsakeValues", sqlite]),
  // Bundles and property lists to read.
  support("BundleSupport", ["KeepsakeSettingsBundle", "KeepsakeValues", "TestSupport"]),
  // A hub's store in memory, and what tests of every store share.
  support("HubStoreSupport", ["KeepsakeHubServer", "KeepsakeValues", "TestSupport"]),
  // A hub in memory, as devices use it.
  support("HubSupport", sync + ["HubStoreSupport", "KeepsakeHubServer"]),
  // A transport that plays a hub.
  support("HubScript", sync + ["HubStoreSupport", "KeepsakeHub", "KeepsakeHubServer"]),
  // A layer below SQLite that sees and decides its calls.
  support("FileSystemShim", linking: "sqlite3"),
  // Decides which of several processes goes on.
  support("Turns"),
  support(
    "Faults",
    commandLine + [
      "FileSystemShim", "Turns", "Keepsake", "KeepsakeTesting", "TestSupport", sqlite, logging,
    ]),
  // Readers of bytes, for fuzzers.
  support(
    "FuzzTargets", sync + ["KeepsakeHub", "KeepsakeFormats", "KeepsakeSettingsBundle"]),
  support("SettingsFixture", ["Keepsake"]),
  // Names that other packages use too, to be imported beside ours.
  support("OtherNames"),
  // Classes that are compiled without reflection metadata, or without the names in them.
  support("Unreflected", ["Keepsake", "KeepsakeInjection"]),
  support("Nameless", ["Keepsake", "KeepsakeInjection"]),
  // Attacks files and processes, fuzzes.
  program(
    "keepsake-probe",
    commandLine + [
      "Faults", "FileSystemShim", "FuzzTargets", "SettingsFixture", "TestSupport", "Turns",
      "Keepsake", "KeepsakeStorage", "KeepsakeTesting", argumentParser, sqlite,
    ], in: "Tests/Probes/Keepsake"),
  test("ValuesTests", ["KeepsakeValues", "TestSupport"]),
  test("StorageTests", device + ["KeepsakeMigrations", "keepsake-probe", "kvsync", sqlite]),
  test("DeviceTests", device + ["BundleSupport", "KeepsakeMigrations", "kvsync", sqlite]),
  test(
    "SyncTests",
    commandLine + [
      "KeepsakeTesting", "KeepsakeHubServer", "KeepsakeMigrations", "KeepsakeStorage",
      "HubSupport", "TestSupport", sqlite,
    ]),
  test(
    "KeepsakeTests",
    [
      "Keepsake", "KeepsakeInjection", "CKeepsake", "SettingsFixture", "keepsake-probe",
      "kvsync", "TestSupport", "OtherNames", "Unreflected", "Nameless", logging, argumentParser,
    ]),
  test("InjectionTests", ["KeepsakeInjection"]),
  test("SettingsBundleTests", ["KeepsakeSettingsBundle", "BundleSupport", "TestSupport"]),
  test("FormatsTests", ["KeepsakeFormats", "BundleSupport", "TestSupport"]),
  test("TestingTests", device + ["KeepsakeTesting", "Keepsake", "KeepsakeInjection"]),
  test("HubClientTests", hub + ["KeepsakeTesting"]),
  test("HubFileTests", hubServer + ["KeepsakeHubFile", "KeepsakeHubMigrations"]),
  test("HubTests", hubServer + ["KeepsakeHubFile", "KeepsakeHubHTTP", "kvsync-hub"]),
  test("PostgresTests", hubServer + ["KeepsakePostgres", "KeepsakePostgresMigrations"]),
  test(
    "ConfigurationTests",
    device + [
      "ConfigurationKeepsake", "Keepsake", "kvsync",
      product("Configuration", "swift-configuration", with: "Configuration"),
      product("ConfigurationTesting", "swift-configuration", with: "Configuration"),
    ]),
  test(
    "ServerTests",
    hub + [
      "KeepsakeServer", "Keepsake", "KeepsakeTesting", logging,
      product("Metrics", "swift-metrics", with: "Server"),
      product("MetricsTestKit", "swift-metrics", with: "Server"),
      product("ServiceLifecycle", "swift-service-lifecycle", with: "Server"),
    ]),
  test(
    "CommandTests", device + commands + ["keepsake-probe", "KeepsakeHub"], in: "Tests/Programs"),
  test("HubCommandTests", device + commands, in: "Tests/Programs", excluding: ["interposer.py"]),
  test(
    "FaultTests", commandLine + ["keepsake-probe", "kvsync", "Keepsake", "TestSupport"],
    in: "Tests/Programs"),
  test(
    "ProjectTests",
    [
      "hello", "two-devices", "two-screens", "beside-userdefaults", "main-actor", "reading-list",
      "kvsync", "KeepsakeDevice", "TestSupport",
    ], in: "Tests/Programs"),
  test(
    "ReadingListTests", ["reading-list", "Keepsake", "KeepsakeTesting"],
    in: "Examples/reading-list/Tests"),
]

// The tutorial's tests import its program as `@testable`, and a release build is as users have it.
if Context.environment["KEEPSAKE_CONFIGURATION"] == "release" {
  package.targets.removeAll { $0.name == "ReadingListTests" }
}

// KEEPSAKE_TARGETS in the environment names targets: a build makes these and what they need.
if let names = Context.environment["KEEPSAKE_TARGETS"] {
  // Only Scripts/benchmark needs these.
  package.targets += [
    library("Peers", in: "Benchmarks/Sources/Peers"),
    program("measure", [], in: "Benchmarks/Sources/measure"),
    // Measures hubs over a file or PostgreSQL.
    program(
      "keepsake-hub-probe",
      sync + [
        "KeepsakeHub", "KeepsakeHubServer", "KeepsakeHubFile",
        target("KeepsakePostgres", with: "PostgreSQL"), argumentParser,
      ], in: "Tests/Probes/Hub"),
    program(
      "benchmark",
      [
        "Peers", "measure", "Keepsake", "KeepsakeInjection", product("GRDB", "GRDB.swift"), sqlite,
      ],
      in: "Benchmarks/Sources/benchmark"),
  ]
  if names.contains("benchmark") {
    package.dependencies.append(
      .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"))
  }
  var needed = Set(names.split(separator: " ").map(String.init))
  let unknown = needed.subtracting(package.targets.map(\.name))
  precondition(unknown.isEmpty, "KEEPSAKE_TARGETS names no target of this package: \(unknown)")
  // Each target is declared after those that it needs.
  package.targets = package.targets.reversed().filter { target in
    guard needed.contains(target.name) else { return false }
    for case .targetItem(let name, _) in target.dependencies { needed.insert(name) }
    for case .byNameItem(let name, _) in target.dependencies { needed.insert(name) }
    return true
  }
  package.products = []
}

// MARK: - Flags

let optimized = Context.environment["KEEPSAKE_OPTIMIZED"]?.split(separator: " ") ?? []

for target in package.targets where target.type != .system {
  // Each is a Swift Evolution proposal that a later language mode will turn on.
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),  // SE-0335
    .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
  ]
  if target.name.hasPrefix("Configuration") {
    // As swift-configuration itself: its protocols' async requirements are nonisolated(nonsending).
    target.swiftSettings?.append(
      .enableUpcomingFeature("NonisolatedNonsendingByDefault"))  // SE-0461
  }
  if target.name == "main-actor" {
    target.swiftSettings?.append(.defaultIsolation(MainActor.self))  // SE-0466, Xcode's default
  }
  // As in release builds that are to be small. Only tests link these.
  if let withheld = ["Unreflected": "metadata", "Nameless": "names"][target.name] {
    target.swiftSettings?.append(.unsafeFlags(["-Xfrontend", "-disable-reflection-\(withheld)"]))
  }
  // Scripts/swift names those that loop over bytes.
  if optimized.contains(Substring(target.name)) {
    target.swiftSettings?.append(.unsafeFlags(["-O", "-assert-config", "Debug"]))
  }
  // CI sets it; a user with a newer compiler sees its new warnings as warnings.
  if Context.environment["KEEPSAKE_STRICT"] != nil {
    target.swiftSettings?.append(.treatAllWarnings(as: .error))  // SE-0480
  }
}
