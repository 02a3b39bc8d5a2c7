// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
  name: "hello",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Keepsake", path: "../..")],
  targets: [
    .executableTarget(
      name: "hello", dependencies: [.product(name: "Keepsake", package: "Keepsake")])
  ],
  swiftLanguageModes: [.v6]
)
