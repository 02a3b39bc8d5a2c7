// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Keepsake", path: ".."),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
  ],
  targets: [
    .executableTarget(
      name: "KeepsakeBenchmarks",
      dependencies: [
        .product(name: "Keepsake", package: "Keepsake"),
        .product(name: "KeepsakeInjection", package: "Keepsake"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
        .product(name: "Benchmark", package: "benchmark"),
      ],
      path: "Benchmarks/KeepsakeBenchmarks",
      plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")])
  ],
  swiftLanguageModes: [.v6]
)
