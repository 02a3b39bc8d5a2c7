// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
  name: "two-devices",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Keepsake", path: "../..")],
  targets: [
    .executableTarget(
      name: "two-devices",
      dependencies: [
        .product(name: "Keepsake", package: "Keepsake"),
        .product(name: "KeepsakeInjection", package: "Keepsake"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
