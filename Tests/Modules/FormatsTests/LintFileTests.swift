// SPDX-License-Identifier: Apache-2.0

import BundleSupport
import Foundation
import KeepsakeFormats
import KeepsakeSettingsBundle
import TestSupport
import Testing

/// What lint says about files, also for one kind of device.
@Suite struct LintFileTests {
  let folder: Folder

  init() throws { folder = try Folder() }

  private func findings() throws -> [String] {
    try SettingsBundle.lint(at: folder.path).map {
      "\($0.problem.file):\($0.problem.position?.line ?? 0) \($0.severity) \($0.rule)"
    }
  }

  @Test func filesForOneDeviceInAFolderAreReadToo() throws {
    try folder.write(pane(child("Sub/A")), to: "Root.plist")
    try folder.write(pane(toggle("a")), to: "Sub/A.plist")
    try folder.write(pane(toggle("b", "<string/>")), to: "Sub/A~ipad.plist")
    #expect(try findings() == ["Sub/A~ipad.plist:6 error default-not-among-values"])
  }

  @Test func aPaneThatCannotBeReadIsAFinding() throws {
    let long = String(repeating: "a", count: 5_000)
    try folder.write(
      pane(child("Dir"), toggle("b", "<string/>"), child(long)), to: "Root.plist")
    try folder.write("", to: "Dir.plist/x")
    #expect(
      try findings() == [
        "Root.plist:7 error default-not-among-values", "Root.plist:8 warning missing",
        "Dir.plist:0 error not-a-file",
      ])
  }

  @Test(arguments: ["PSTextFieldSpecifier", "PSToggleSwitchSpecifier", "IASKTextViewSpecifier"])
  func anEmptyKeyIsAWarning(_ type: String) throws {
    let row = members(
      type,
      ["Title": "<string>t</string>", "Key": "<string/>", "DefaultValue": "<string>v</string>"])
    try folder.write(pane(row), to: "Root.plist")
    let findings = try SettingsBundle.lint(at: folder.path)
    #expect(findings.allSatisfy { $0.severity == .warning }, "\(findings)")
    #expect(findings.contains { $0.rule == "empty-key" })
  }
}
