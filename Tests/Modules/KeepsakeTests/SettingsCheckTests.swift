// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import Testing

private enum Theme: String, BackingStoreConvertible { case light, dark }

private class AppSettings: UserDefaultsStore, @unchecked Sendable {
  @Setting var sound = true
  @Setting var volume = 0.5
  @Setting("user_name") var name: String?
  @Setting var theme = Theme.light
  @Setting var quality = 1
}

private final class WrongSettings: AppSettings, @unchecked Sendable {
  @Setting var lost = 1
  let cache = NSCountedSet()
  lazy var store = NSCountedSet()
  @Setting("sound2") var alsoSound = "text"
  @Setting var level = 3
}

@Suite struct SettingsCheckTests {
  private static let rows = [
    row("PSGroupSpecifier", "", "<key>Title</key><string>General</string>"),
    row("PSToggleSwitchSpecifier", "sound", "<key>DefaultValue</key><true/>"),
    row("PSSliderSpecifier", "volume", slider), row("PSTextFieldSpecifier", "user_name", ""),
    row("PSMultiValueSpecifier", "theme", choices("light", "dark")),
    row("PSTitleValueSpecifier", "quality", "<key>DefaultValue</key><integer>2</integer>"),
    row("IASKButtonSpecifier", "ignored", ""),
  ]

  private static let slider =
    "<key>DefaultValue</key><integer>1</integer><key>MinimumValue</key><integer>0</integer>"
    + "<key>MaximumValue</key><integer>3</integer>"

  private static func row(_ type: String, _ key: String, _ rest: String) -> String {
    let key = key.isEmpty ? "" : "<key>Key</key><string>\(key)</string>"
    let title = rest.contains("<key>Title<") ? "" : "<key>Title</key><string>t</string>"
    return "<dict><key>Type</key><string>\(type)</string>\(title)\(key)\(rest)</dict>"
  }

  private static func choices(_ values: String...) -> String {
    let list = "<array>\(values.map { "<string>\($0)</string>" }.joined())</array>"
    return "<key>DefaultValue</key><string>\(values[0])</string><key>Values</key>\(list)"
      + "<key>Titles</key>\(list)"
  }

  private func bundle(
    _ rows: [String], _ mode: SettingsBundle.Mode = .strict
  ) throws -> (SettingsBundle, TemporaryFolder) {
    let folder = try TemporaryFolder()
    let text =
      "<plist><dict><key>PreferenceSpecifiers</key><array>\n" + rows.joined(separator: "\n")
      + "</array></dict></plist>"
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path + "/Root.plist"))
    return (try SettingsBundle(at: folder.path, mode: mode), folder)
  }

  @Test func aClassThatFitsTheBundleHasNoDifferences() throws {
    let (bundle, folder) = try bundle(Self.rows)
    #expect(try AppSettings(on: .inMemory()).differences(from: bundle).isEmpty)
    withExtendedLifetime(folder) {}
  }

  @Test func everyKindOfDifferenceIsFoundAndNamed() throws {
    var rows = Self.rows
    rows[4] = Self.row("PSMultiValueSpecifier", "theme", Self.choices("light", "sepia"))
    rows += [
      Self.row("PSToggleSwitchSpecifier", "sound2", "<key>DefaultValue</key><true/>"),
      Self.row("PSSliderSpecifier", "level", Self.slider),
      Self.row("PSTextFieldSpecifier", "city", ""),
    ]
    let (bundle, folder) = try bundle(rows)
    let found = try WrongSettings(on: .inMemory()).differences(from: bundle)
    #expect(
      found.map { "\($0.kind) \($0.key)" } == [
        "typesDisagree theme", "noSpecifier lost", "notASetting cache", "notASetting store",
        "typesDisagree sound2", "typesDisagree level", "noProperty city",
      ])
    try #require(found.count == 7)
    #expect(found[0].description.hasPrefix("Root.plist:6: the setting \"theme\" cannot read"))
    #expect(found[6].description.hasPrefix("Root.plist:11: no setting has the key \"city\"; "))
    #expect(found.allSatisfy { $0.description.contains("; ") })
    withExtendedLifetime(folder) {}
  }

  @Test func aTextFieldStoresTheEmptyTextAndItsDefault() throws {
    final class Fields: UserDefaultsStore, @unchecked Sendable {
      @Setting("user_name") var name = ""
      @Setting var theme = Theme.light
    }
    func found(_ key: String, _ value: String) throws -> [SettingsDifference] {
      let row = Self.row("PSTextFieldSpecifier", key, "<key>DefaultValue</key>\(value)")
      let (bundle, folder) = try bundle([row], .lenient)
      let other = key == "theme" ? "user_name" : "theme"
      defer { withExtendedLifetime(folder) {} }
      return try Fields(on: .inMemory()).differences(from: bundle).filter { $0.key != other }
    }
    #expect(try found("user_name", "<string>ada</string>").isEmpty)
    #expect(try found("user_name", "<integer>5</integer>").map(\.kind) == [.typesDisagree])
    #expect(try found("theme", "<string>dark</string>").map(\.kind) == [.typesDisagree])
  }

  @Test func aFlatTableIsCheckedByItsValues() throws {
    let folder = try TemporaryFolder()
    let text =
      "<plist><dict><key>sound</key><true/><key>volume</key><string/>\n"
      + "<key>user_name</key><string/><key>theme</key><string>dark</string></dict></plist>"
    let path = folder.path + "/Defaults.plist"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    let found = try AppSettings(on: .inMemory()).differences(from: SettingsBundle(at: path))
    #expect(
      found.map { "\($0.kind) \($0.key)" } == ["typesDisagree volume", "noSpecifier quality"])
  }

  @Test func theGroupOfABundleIsTheSuiteUnlessOneIsNamed() throws {
    let folder = try TemporaryFolder()
    let text =
      "<plist><dict><key>ApplicationGroupContainerIdentifier</key><string>group.x</string>"
      + "<key>PreferenceSpecifiers</key><array>\(Self.rows[1])</array></dict></plist>"
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path + "/Root.plist"))
    let (bundle, device) = (try SettingsBundle(at: folder.path), try Device.inMemory())
    let group = try UserDefaultsStore(on: device, seededBy: bundle)
    #expect(group.storeName == "defaults:group.x" && group["sound"] == true)
    #expect(
      try UserDefaultsStore(on: device, suite: "s", seededBy: bundle).storeName == "defaults:s")
    #expect(try UserDefaultsStore(on: device)["sound"] == nil)
  }
}
