// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
  name: "beside-userdefaults",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Keepsake", path: "../..")],
  targets: [
    .executableTarget(
      name: "beside-userdefaults",
      dependencies: [.product(name: "Keepsake", package: "Keepsake")])
  ],
  swiftLanguageModes: [.v6]
)
