// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let keepsake = Target.Dependency.product(name: "Keepsake", package: "Keepsake")
let injection = Target.Dependency.product(name: "KeepsakeInjection", package: "Keepsake")

let package = Package(
  name: "Examples",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Keepsake", path: "..")],
  targets: [
    .executableTarget(name: "hello", dependencies: [keepsake], path: "hello"),
    .executableTarget(
      name: "two-devices", dependencies: [keepsake, injection], path: "two-devices",
      exclude: ["Settings.bundle", "play"]),
    .executableTarget(name: "two-screens", dependencies: [injection], path: "two-screens"),
    .executableTarget(
      name: "beside-userdefaults", dependencies: [keepsake], path: "beside-userdefaults"),
    .executableTarget(
      name: "main-actor", dependencies: [keepsake], path: "main-actor",
      // The default isolation is the main actor, as in a new Xcode project.
      swiftSettings: [.defaultIsolation(MainActor.self)]),
  ],
  swiftLanguageModes: [.v6]
)
