// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeValues
import TestSupport
import Testing

@Suite struct StandardLocationTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  #if !canImport(Darwin)
    @Test(arguments: [
      (["XDG_DATA_HOME": "/data", "HOME": "/home/ada"], "/data/org.example/device.keepsake"),
      (["HOME": "/home/ada"], "/home/ada/.local/share/org.example/device.keepsake"),
      (
        ["XDG_DATA_HOME": "", "HOME": "/home/ada"],
        "/home/ada/.local/share/org.example/device.keepsake"
      ),
      (
        ["XDG_DATA_HOME": "data", "HOME": "/home/ada"],
        "/home/ada/.local/share/org.example/device.keepsake"
      ),
    ])
    func isWhereTheSpecificationOfTheDesktopSays(environment: [String: String], path: String) throws
    {
      #expect(try Device.standardPath("org.example", environment: environment) == path)
    }

    @Test func withoutAHomeIsAnError() {
      expectError(.cannotCreate) {
        try Device.standardPath("org.example", environment: ["XDG_DATA_HOME": "data"])
      }
    }
  #endif

  @Test(arguments: ["", ".", "..", "a/b", "/", "a\0b"])
  func anIdentifierThatIsNoFileNameIsRefused(identifier: String) throws {
    expectError(.invalidKey) {
      try Device(identifier: identifier, in: URL(fileURLWithPath: folder.path))
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }

  @Test func missingFoldersAreMadeForTheirOwnerAlone() throws {
    let data = URL(fileURLWithPath: folder.path + "/a/b")
    let path = folder.path + "/a/b/org.example/device.keepsake"
    expectError(.missing) { try Device(identifier: "org.example", in: data, access: .existing) }
    #expect(!FileManager.default.fileExists(atPath: data.path))
    let device = try Device(identifier: "org.example", in: data)
    #expect(device.path == path)
    func mode(_ path: String) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
    #expect(try mode(path) == 0o600)
    for made in ["/a", "/a/b", "/a/b/org.example"] {
      #expect(try mode(folder.path + made) == 0o700)
    }
    let again = try Device(identifier: "org.example", in: data)
    #expect(try again.replica() == device.replica())
  }

  @Test func aFileInPlaceOfTheFolderIsAnError() throws {
    try Data().write(to: URL(fileURLWithPath: folder.path + "/org.example"))
    expectError(.cannotCreate) {
      try Device(identifier: "org.example", in: URL(fileURLWithPath: folder.path))
    }
  }

  @Test func theDefaultIdentifierNamesTheProgram() {
    #expect(!Device.defaultIdentifier.isEmpty)
    #expect(throws: Never.self) {
      try Device.standardPath(Device.defaultIdentifier, environment: ["HOME": "/home/ada"])
    }
  }
}
