// SPDX-License-Identifier: Apache-2.0

import BundleSupport
import Foundation
import KeepsakeSettingsBundle
import TestSupport
import Testing

/// Rows whose file is not there, or is none.
@Suite struct MissingPanesTests {
  let folder: Folder

  init() throws { folder = try Folder() }

  private func warning() throws -> String {
    let warnings = try SettingsBundle(at: folder.path).warnings
    return warnings.count == 1 ? warnings[0].message : "\(warnings)"
  }

  @Test(arguments: [251, 300, 5_000, 1_000_000])
  func aNameLongerThanAnyFilesIsMissingAndCutInMessages(_ length: Int) throws {
    let name = String(repeating: "a", count: length)
    try folder.write(pane(child(name), toggle("b")), to: "Root.plist")
    for mode in SettingsBundle.Mode.allCases {
      #expect(
        outcome(folder.path, mode) == ["b=true Root.plist:7", "warning Root.plist:6:108"])
    }
    #expect(
      try warning() == "the pane \"\(name.prefix(60))…\" does not exist; add it, or remove this row"
    )
  }

  @Test func aFolderInThePlaceOfAPaneIsAFaultAndItsSiblingsSeed() throws {
    try folder.write(pane(child("Dir"), toggle("b", "<string/>")), to: "Root.plist")
    try folder.write("", to: "Dir.plist/x")
    #expect(outcome(folder.path, .strict) == ["error Dir.plist notAFile"])
    #expect(
      outcome(folder.path, .lenient) == [
        "b=\"\" Root.plist:7", "warning Dir.plist", "warning Root.plist:7:151",
      ])
  }

  @Test(.enabled(if: Unprivileged.isPossible, Unprivileged.need))
  func aPaneThatMayNotBeReadIsAFaultAndItsSiblingsSeed() throws {
    try folder.write(pane(child("A"), toggle("b")), to: "Root.plist")
    let path = try folder.write(pane(), to: "A.plist")
    try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
    try Unprivileged.run(in: folder.path) {
      #expect(outcome(folder.path, .strict) == ["error A.plist permissionDenied"])
      #expect(outcome(folder.path, .lenient) == ["b=true Root.plist:7", "warning A.plist"])
    }
  }

  /// Each row once had the whole folder listed and put into lower case: minutes for this.
  @Test func manyMissingPanesAmongManyFilesCostNoTime() throws {
    let rows = (0..<8_000).map { "<dict>\(child("missing\($0)"))</dict>" }
    try folder.write(
      pane("").replacing("<dict></dict>", with: rows.joined(separator: "\n")), to: "Root.plist")
    for index in 0..<2_000 { try folder.write("", to: "File\(index).plist") }
    try expectLittleWork {
      let warnings = try SettingsBundle(at: folder.path).warnings
      #expect(warnings.count == 8_000)
    }
  }
}
