// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Keepsake", path: ".."),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    .target(name: "Peers"),
    .executableTarget(name: "measure"),
    .executableTarget(
      name: "benchmark",
      dependencies: [
        "Peers", "measure",
        .product(name: "Keepsake", package: "Keepsake"),
        .product(name: "KeepsakeInjection", package: "Keepsake"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
