// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
  name: "reading-list",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Keepsake", path: "../..", traits: [])],
  targets: [
    .executableTarget(
      name: "reading-list", dependencies: [.product(name: "Keepsake", package: "Keepsake")]),
    .testTarget(
      name: "ReadingListTests",
      dependencies: ["reading-list", .product(name: "KeepsakeTesting", package: "Keepsake")]),
  ],
  swiftLanguageModes: [.v6]
)
