// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// A package of its own: what a server takes is neither cloned nor built for the other examples.
let package = Package(
  name: "server",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Keepsake", path: "../..", traits: ["Configuration", "Server"]),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.5.0"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.2.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
  ],
  targets: [
    .executableTarget(
      name: "server",
      dependencies: [
        .product(name: "Keepsake", package: "Keepsake"),
        .product(name: "ConfigurationKeepsake", package: "Keepsake"),
        .product(name: "KeepsakeServer", package: "Keepsake"),
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "Metrics", package: "swift-metrics"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "Hummingbird", package: "hummingbird"),
      ],
      path: "Sources")
  ],
  swiftLanguageModes: [.v6]
)
