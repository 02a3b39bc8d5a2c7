// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// SwiftPM reads one file: this one is longer than others of ours may be.
let package = Package(
  name: "Keepsake",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [
    .library(name: "Keepsake", targets: ["Keepsake"]),
    .library(name: "KeepsakeHub", targets: ["KeepsakeHub"]),
    .library(name: "ConfigurationKeepsake", targets: ["ConfigurationKeepsake"]),
    .library(name: "ServiceLifecycleKeepsake", targets: ["ServiceLifecycleKeepsake"]),
    .library(name: "MetricsKeepsake", targets: ["MetricsKeepsake"]),
    .library(name: "KeepsakeInjection", targets: ["KeepsakeInjection"]),
    .library(name: "KeepsakeTesting", targets: ["KeepsakeTesting"]),
    .executable(name: "kvsync", targets: ["kvsync"]),
    .executable(name: "kvsync-hub", targets: ["kvsync-hub"]),
    .executable(name: "kvsync-page", targets: ["kvsync-page"]),
  ],
  // Off unless asked for: who does not serve a hub neither clones nor builds what serving takes.
  traits: [
    .trait(name: "Hub", description: "The server of kvsync hub."),
    .trait(
      name: "HubTLS", description: "A hub that speaks TLS itself.", enabledTraits: ["Hub"]),
    .trait(
      name: "PostgreSQL", description: "A hub over PostgreSQL, by libpq.", enabledTraits: ["Hub"]),
    .trait(name: "Page", description: "The page of kvsync open."),
    .trait(name: "Configuration", description: "The product ConfigurationKeepsake."),
    .trait(name: "Services", description: "The product ServiceLifecycleKeepsake."),
    .trait(name: "Metrics", description: "The product MetricsKeepsake."),
  ],
  dependencies: [
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    // The first versions that are Sendable where Swift 6 asks; tests run with the newest.
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    // Of the traits alone.
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.5.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    .package(
      url: "https://github.com/apple/swift-configuration", from: "1.2.0",
      traits: ["JSON", "CommandLineArguments"]),
  ],
  targets: [
    .target(
      name: "KeepsakeMigrations", path: "Migrations", exclude: ["Hub", "Postgres", "SHIPPED"],
      resources: [
        .embedInCode("V001_initial.sql"), .embedInCode("V002_void.sql"),
        .embedInCode("V003_grave.sql"), .embedInCode("V004_unsent.sql"),
        .embedInCode("Schema.txt"),
      ]),
    .target(
      name: "KeepsakeHubMigrations", path: "Migrations/Hub", exclude: ["SHIPPED"],
      resources: [.embedInCode("V001_initial.sql")]),
    .target(
      name: "KeepsakePostgresMigrations", path: "Migrations/Postgres", exclude: ["SHIPPED"],
      resources: [.embedInCode("V001_initial.sql")]),
    .target(name: "KeepsakeMapping", path: "Sources/Mapping"),
    .target(name: "KeepsakeForks", path: "Sources/Forks"),
    .target(name: "KeepsakeThreads", path: "Sources/Threads"),
    .target(
      name: "KeepsakeFileSystem", path: "Sources/FileSystem",
      linkerSettings: [.linkedLibrary("sqlite3")]),
    .target(name: "KeepsakeInjection", path: "Sources/Injection"),
    .target(name: "KeepsakeValues", path: "Sources/Values"),
    .target(
      name: "KeepsakeSettingsBundle", dependencies: ["KeepsakeValues"],
      path: "Sources/SettingsBundle"),
    // What only kvsync needs of property lists and bundles, so that no application links it.
    .target(
      name: "KeepsakeBundleTools", dependencies: ["KeepsakeSettingsBundle", "KeepsakeValues"],
      path: "Sources/BundleTools"),
    // What `import` reads, whatever it is written to: so that a fuzzer needs no more.
    .target(
      name: "KeepsakeTransfer",
      dependencies: ["KeepsakeBundleTools", "KeepsakeSettingsBundle", "KeepsakeValues"],
      path: "Sources/Transfer"),
    // One SQLite file that is ours, and safe to use. It knows no keys.
    .target(
      name: "KeepsakeStorage",
      dependencies: [
        "KeepsakeValues", "KeepsakeMigrations", "KeepsakeMapping", "KeepsakeForks",
        "KeepsakeFileSystem",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      path: "Sources/Storage"),
    // Entries in such a file.
    .target(
      name: "KeepsakeDevice", dependencies: ["KeepsakeStorage", "KeepsakeValues"],
      path: "Sources/Device"),
    .target(
      name: "KeepsakeSync", dependencies: ["KeepsakeDevice", "KeepsakeValues"],
      path: "Sources/Sync"),
    // What devices and hubs say to each other.
    .target(
      name: "KeepsakeHub",
      dependencies: [
        .target(name: "CCurl", condition: .when(platforms: [.linux])),
        "KeepsakeSync", "KeepsakeDevice", "KeepsakeValues",
      ],
      path: "Sources/Hub"),
    // Requests by the libcurl that Foundation for Linux brings.
    .target(name: "CCurl", path: "Sources/CCurl"),
    // What a hub keeps, and by which rules.
    .target(
      name: "KeepsakeHubServer", dependencies: ["KeepsakeSync", "KeepsakeDevice", "KeepsakeValues"],
      path: "Sources/HubServer"),
    // The same in one SQLite file.
    .target(
      name: "KeepsakeHubFile",
      dependencies: [
        "KeepsakeHubServer", "KeepsakeHubMigrations", "KeepsakeSync", "KeepsakeStorage",
        "KeepsakeDevice", "KeepsakeValues",
      ],
      path: "Sources/HubFile"),
    // A hub as others reach it: HTTP.
    .target(
      name: "KeepsakeHubHTTP",
      dependencies: [
        "KeepsakeHubServer", "KeepsakeHub", "KeepsakeSync", "KeepsakeDevice", "KeepsakeValues",
        .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Hub"])),
        .product(
          name: "HummingbirdTLS", package: "hummingbird", condition: .when(traits: ["HubTLS"])),
        .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Hub"])),
        .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Hub"])),
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle",
          condition: .when(traits: ["Hub"])),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Sources/HubHTTP"),
    .systemLibrary(
      name: "CPostgres", path: "Sources/CPostgres", pkgConfig: "libpq",
      providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    // A hub's accounts in PostgreSQL.
    .target(
      name: "KeepsakePostgres",
      dependencies: [
        "KeepsakeHubServer", "KeepsakePostgresMigrations", "KeepsakeSync", "KeepsakeDevice",
        "KeepsakeValues", .target(name: "CPostgres", condition: .when(traits: ["PostgreSQL"])),
      ],
      path: "Sources/Postgres"),
    .target(
      name: "Keepsake",
      dependencies: [
        "KeepsakeInjection", "KeepsakeValues", "KeepsakeSettingsBundle", "KeepsakeDevice",
        "KeepsakeSync", "KeepsakeThreads", .product(name: "Logging", package: "swift-log"),
      ],
      path: "Sources/Keepsake"),
    // A store as a provider of swift-configuration, and its providers as layers of a store.
    .target(
      name: "ConfigurationKeepsake",
      dependencies: [
        "Keepsake", "KeepsakeValues",
        .product(
          name: "Configuration", package: "swift-configuration",
          condition: .when(traits: ["Configuration"])),
      ],
      path: "Sources/Configuration"),
    // Sessions and observers as services of swift-service-lifecycle.
    .target(
      name: "ServiceLifecycleKeepsake",
      dependencies: [
        "Keepsake", "KeepsakeHub",
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle",
          condition: .when(traits: ["Services"])),
      ],
      path: "Sources/Services"),
    // What a device does, counted by swift-metrics.
    .target(
      name: "MetricsKeepsake",
      dependencies: [
        "Keepsake", "KeepsakeDevice",
        .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
      ],
      path: "Sources/Metrics"),
    .target(
      name: "KeepsakeTesting",
      dependencies: [
        "Keepsake", "KeepsakeInjection", "KeepsakeValues", "KeepsakeDevice", "KeepsakeSync",
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      path: "Sources/Testing"),
    // What the programs on the command line share: options, output, how they end.
    .target(
      name: "KeepsakeCommandLine",
      dependencies: [
        "KeepsakeTransfer", "KeepsakeSettingsBundle", "KeepsakeSync", "KeepsakeDevice",
        "KeepsakeValues", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Sources/CommandLine"),
    // What is about hubs, which kvsync becomes: a program that needs none does not load networks.
    .executableTarget(
      name: "kvsync-hub",
      dependencies: [
        "KeepsakeCommandLine", "KeepsakeTransfer", "KeepsakeHub", "KeepsakeSync", "KeepsakeDevice",
        "KeepsakeValues", .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .target(name: "KeepsakeHubFile", condition: .when(traits: ["Hub"])),
        .target(name: "KeepsakeHubHTTP", condition: .when(traits: ["Hub"])),
        .target(name: "KeepsakeHubServer", condition: .when(traits: ["Hub"])),
        .target(name: "KeepsakePostgres", condition: .when(traits: ["PostgreSQL"])),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Sources/kvsync-hub"),
    // What kvsync open shows in the browser, and the program that it becomes for that.
    .target(
      name: "KeepsakePage",
      dependencies: [
        "KeepsakeCommandLine", "KeepsakeTransfer", "KeepsakeSync", "KeepsakeDevice",
        "KeepsakeValues",
        .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Page"])),
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle",
          condition: .when(traits: ["Page"])),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Sources/Page",
      resources: [
        .embedInCode("index.html"), .embedInCode("page.css"), .embedInCode("page.js"),
        .embedInCode("growth.js"), .embedInCode("keys.js"), .embedInCode("shared.js"),
        .embedInCode("views.js"),
      ]),
    .executableTarget(
      name: "kvsync-page",
      dependencies: [
        "KeepsakeCommandLine", "KeepsakeDevice", "KeepsakeValues",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .target(name: "KeepsakePage", condition: .when(traits: ["Page"])),
      ],
      path: "Sources/kvsync-page"),
    .executableTarget(
      name: "kvsync",
      dependencies: [
        "KeepsakeCommandLine",
        "Keepsake", "KeepsakeValues", "KeepsakeSettingsBundle", "KeepsakeBundleTools",
        "KeepsakeTransfer", "KeepsakeDevice", "KeepsakeSync",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Sources/kvsync"),
    .target(
      name: "TestSupport",
      dependencies: [
        "KeepsakeTesting", "KeepsakeDevice", "KeepsakeValues",
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      path: "Tests/Support"),
    // Random histories of devices, and an oracle: for SyncTests and for Scripts/soak.
    .target(
      name: "Histories",
      dependencies: [
        "KeepsakeSync", "KeepsakeHub", "KeepsakeHubServer", "KeepsakeHubFile", "KeepsakeDevice",
        "KeepsakeValues", "KeepsakeTesting",
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      path: "Tests/Histories"),
    .executableTarget(
      name: "soak",
      dependencies: [
        "Histories", "KeepsakeHubServer", "KeepsakeTesting", "KeepsakeValues",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tests/Soak"),
    .testTarget(
      name: "TestingTests",
      dependencies: [
        "KeepsakeTesting", "Keepsake", "KeepsakeInjection", "KeepsakeDevice", "KeepsakeSync",
        "KeepsakeValues", "TestSupport",
      ],
      path: "Tests/TestingTests"),
    .testTarget(
      name: "ValuesTests", dependencies: ["KeepsakeValues", "TestSupport"],
      path: "Tests/ValuesTests"),
    .testTarget(
      name: "StorageTests",
      dependencies: [
        "KeepsakeDevice", "KeepsakeValues", "KeepsakeMigrations", "TestSupport", "checkpoint-probe",
        "kvsync",
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      path: "Tests/StorageTests"),
    .testTarget(
      name: "DeviceTests",
      dependencies: [
        "KeepsakeDevice", "KeepsakeValues", "TestSupport",
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      path: "Tests/DeviceTests"),
    // A layer below SQLite that sees and decides its calls, what is done with it, and the program
    // that runs on it.
    .target(
      name: "FileSystemShim", path: "Tests/FileSystemShim",
      linkerSettings: [.linkedLibrary("sqlite3")]),
    // Decides which of several processes goes on.
    .target(name: "Turns", path: "Tests/Turns"),
    .target(
      name: "Faults",
      dependencies: [
        "FileSystemShim", "Turns", "Keepsake", "KeepsakeTesting", "KeepsakeSync",
        "KeepsakeDevice", "KeepsakeValues", .product(name: "GRDBSQLite", package: "GRDB.swift"),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Tests/Faults"),
    .executableTarget(
      name: "fault-probe",
      dependencies: [
        "Faults", "KeepsakeTesting",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tests/FaultProbe"),
    // Processes that are killed, that share a file, that fork.
    .executableTarget(
      name: "process-probe",
      dependencies: [
        "Turns", "Keepsake", "KeepsakeSync", "KeepsakeDevice", "KeepsakeTesting",
        "KeepsakeThreads",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tests/ProcessProbe"),
    // What a fuzzer gives bytes to, and the program that makes them up itself.
    .target(
      name: "FuzzTargets",
      dependencies: [
        "KeepsakeHub", "KeepsakeSync", "KeepsakeTransfer", "KeepsakeBundleTools",
        "KeepsakeSettingsBundle", "KeepsakeValues",
      ],
      path: "Tests/FuzzTargets"),
    .executableTarget(
      name: "fuzz",
      dependencies: [
        "FuzzTargets", "TestSupport", .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tests/Fuzz", exclude: ["Corpus"]),
    .testTarget(
      name: "FaultTests",
      dependencies: [
        "fault-probe", "process-probe", "fuzz", "kvsync", "Keepsake", "KeepsakeDevice",
        "TestSupport",
      ],
      path: "Tests/FaultTests"),
    .executableTarget(
      name: "checkpoint-probe",
      dependencies: [
        "Faults", "FileSystemShim", "KeepsakeSync", "KeepsakeDevice", "KeepsakeValues",
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      path: "Tests/CheckpointProbe"),
    .target(
      name: "SettingsFixture", dependencies: ["Keepsake"], path: "Tests/SettingsFixture"),
    .executableTarget(
      name: "settings-probe", dependencies: ["SettingsFixture", "Keepsake", "TestSupport"],
      path: "Tests/SettingsProbe"),
    .testTarget(
      name: "KeepsakeTests",
      dependencies: [
        "Keepsake", "KeepsakeInjection", "KeepsakeThreads", "SettingsFixture", "settings-probe",
        "kvsync", "TestSupport", "OtherNames", .product(name: "Logging", package: "swift-log"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tests/KeepsakeTests"),
    // What other packages call their own, to be imported beside ours.
    .target(name: "OtherNames", path: "Tests/OtherNames"),
    // The README's programs, so that its tests can run them.
    .executableTarget(
      name: "hello-program", dependencies: ["Keepsake"], path: "Examples/hello"),
    .executableTarget(
      name: "readme-program", dependencies: ["Keepsake", "KeepsakeInjection"],
      path: "Examples/two-devices",
      exclude: ["Settings.bundle", "play"]),
    .executableTarget(
      name: "injection-probe", dependencies: ["KeepsakeInjection"], path: "Tests/InjectionProbe"),
    // The example's program, so that its test can run it.
    .executableTarget(
      name: "screens-program", dependencies: ["KeepsakeInjection"],
      path: "Examples/two-screens"),
    // What the README says of UserDefaults, measured; so that its test can run it.
    .executableTarget(
      name: "comparison-program", dependencies: ["Keepsake"],
      path: "Examples/beside-userdefaults"),
    // The tutorial's program and its tests.
    .executableTarget(
      name: "reading-list", dependencies: ["Keepsake"],
      path: "Examples/reading-list/Sources/reading-list"),
    .testTarget(
      name: "ReadingListTests", dependencies: ["reading-list", "Keepsake", "KeepsakeTesting"],
      path: "Examples/reading-list/Tests/ReadingListTests"),
    // The same, where everything is on the main actor unless it says otherwise.
    .executableTarget(
      name: "main-actor-program", dependencies: ["Keepsake"],
      path: "Examples/main-actor"),
    .testTarget(
      name: "ProjectTests",
      dependencies: [
        "TestSupport", "hello-program", "readme-program", "comparison-program", "screens-program",
        "main-actor-program", "injection-probe", "reading-list", "kvsync", "KeepsakeDevice",
      ],
      path: "Tests/ProjectTests"),
    // Bundles and property lists to read, for the tests of both modules.
    .target(
      name: "BundleSupport", dependencies: ["KeepsakeSettingsBundle", "KeepsakeValues"],
      path: "Tests/BundleSupport"),
    .testTarget(
      name: "SettingsBundleTests",
      dependencies: ["KeepsakeSettingsBundle", "KeepsakeValues", "BundleSupport"],
      path: "Tests/SettingsBundleTests"),
    .testTarget(
      name: "BundleToolsTests",
      dependencies: [
        "KeepsakeBundleTools", "KeepsakeSettingsBundle", "KeepsakeValues", "BundleSupport",
      ],
      path: "Tests/BundleToolsTests"),
    .testTarget(
      name: "InjectionTests", dependencies: ["KeepsakeInjection"], path: "Tests/InjectionTests"),
    .testTarget(
      name: "CommandTests",
      dependencies: [
        "kvsync", "kvsync-hub", "kvsync-page", "settings-probe", "KeepsakeDevice",
        "KeepsakeValues", "TestSupport",
      ],
      path: "Tests/CommandTests"),
    .testTarget(
      name: "PageTests",
      dependencies: [
        "kvsync", "kvsync-page", "TestSupport",
        .target(name: "KeepsakePage", condition: .when(traits: ["Page"])),
      ],
      path: "Tests/PageTests"),
    // A hub without a network: a transport that plays it.
    .target(
      name: "HubSupport",
      dependencies: [
        "KeepsakeHub", "KeepsakeHubServer", "KeepsakeSync", "KeepsakeDevice", "KeepsakeValues",
      ],
      path: "Tests/HubSupport"),
    .testTarget(
      name: "HubClientTests",
      dependencies: [
        "HubSupport", "KeepsakeHub", "KeepsakeHubServer", "KeepsakeSync", "KeepsakeDevice",
        "KeepsakeValues", "KeepsakeTesting", "TestSupport",
      ],
      path: "Tests/HubClientTests"),
    .testTarget(
      name: "SyncTests",
      dependencies: [
        "KeepsakeHub", "KeepsakeHubServer",
        "Histories", "KeepsakeSync", "KeepsakeDevice", "KeepsakeValues", "KeepsakeMigrations",
        "TestSupport", .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      path: "Tests/SyncTests"),
    // Histories over PostgreSQL, processes that push to it, and measurements.
    .executableTarget(
      name: "postgres-probe",
      dependencies: [
        "HubCrowd", "KeepsakePostgres", "Histories", "KeepsakeHubServer", "KeepsakeSync",
        "KeepsakeDevice", "KeepsakeValues", "KeepsakeTesting",
      ],
      path: "Tests/PostgresProbe"),
    .testTarget(
      name: "PostgresTests",
      dependencies: [
        "postgres-probe", "KeepsakePostgres", "KeepsakePostgresMigrations", "KeepsakeHubServer",
        "KeepsakeSync", "KeepsakeValues", "TestSupport",
      ],
      path: "Tests/PostgresTests"),
    // Devices of many accounts of a hub, and what they are measured by.
    .target(
      name: "HubCrowd",
      dependencies: [
        "KeepsakeHubServer", "KeepsakeSync", "KeepsakeDevice", "KeepsakeValues", "KeepsakeTesting",
      ],
      path: "Tests/HubCrowd"),
    // A process that pushes to a hub's file until it is killed, or measures that, or HTTP.
    .executableTarget(
      name: "hub-file-probe",
      dependencies: [
        "HubCrowd", "Keepsake", "KeepsakeHub", "KeepsakeHubFile", "KeepsakeStorage", "KeepsakeSync",
        "KeepsakeDevice", "KeepsakeValues", "KeepsakeTesting",
      ],
      path: "Tests/HubFileProbe"),
    .testTarget(
      name: "HubFileTests",
      dependencies: [
        "hub-file-probe", "Histories", "KeepsakeHubFile", "KeepsakeHubMigrations",
        "KeepsakeHubServer", "KeepsakeSync", "KeepsakeStorage", "KeepsakeDevice", "KeepsakeValues",
        "TestSupport",
      ],
      path: "Tests/HubFileTests"),
    // The commands of hubs, with a hub that is a process of its own.
    .testTarget(
      name: "HubCommandTests",
      dependencies: ["kvsync", "kvsync-hub", "TestSupport"], path: "Tests/HubCommandTests",
      exclude: ["interposer.py"]),
    .testTarget(
      name: "HubTests",
      dependencies: [
        "kvsync-hub", "KeepsakeHubHTTP", "KeepsakeHub", "KeepsakeHubServer", "KeepsakeSync",
        "KeepsakeDevice", "KeepsakeValues", "TestSupport",
      ],
      path: "Tests/HubTests"),
    .testTarget(
      name: "ConfigurationTests",
      dependencies: [
        "ConfigurationKeepsake", "Keepsake", "KeepsakeDevice", "KeepsakeValues", "TestSupport",
        "kvsync",
        .product(
          name: "Configuration", package: "swift-configuration",
          condition: .when(traits: ["Configuration"])),
        .product(
          name: "ConfigurationTesting", package: "swift-configuration",
          condition: .when(traits: ["Configuration"])),
      ],
      path: "Tests/ConfigurationTests"),
    .testTarget(
      name: "ServicesTests",
      dependencies: [
        "ServiceLifecycleKeepsake", "MetricsKeepsake", "Keepsake", "KeepsakeHub", "KeepsakeSync",
        "KeepsakeDevice", "KeepsakeValues", "KeepsakeTesting", "HubSupport", "TestSupport",
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle",
          condition: .when(traits: ["Services"])),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
        .product(
          name: "MetricsTestKit", package: "swift-metrics",
          condition: .when(traits: ["Metrics"])),
      ],
      path: "Tests/ServicesTests"),
  ],
  swiftLanguageModes: [.v6]
)

// Each flag is a Swift Evolution proposal that a later language mode will turn on.
for target in package.targets where target.type != .system {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),  // SE-0335
    .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
  ]
  if target.name.hasPrefix("Configuration") {
    // As swift-configuration itself: its protocols' async requirements are nonisolated(nonsending).
    target.swiftSettings?.append(
      .enableUpcomingFeature("NonisolatedNonsendingByDefault"))  // SE-0461
  }
  if target.name == "main-actor-program" {
    target.swiftSettings?.append(.defaultIsolation(MainActor.self))  // SE-0466
  }
}
