// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
  name: "main-actor",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Keepsake", path: "../..")],
  targets: [
    .executableTarget(
      name: "main-actor", dependencies: [.product(name: "Keepsake", package: "Keepsake")],
      // The default isolation is the main actor, as in a new Xcode project.
      swiftSettings: [.defaultIsolation(MainActor.self)])
  ],
  swiftLanguageModes: [.v6]
)
