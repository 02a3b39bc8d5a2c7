// SPDX-License-Identifier: Apache-2.0

import BundleSupport
import Foundation
import KeepsakeSettingsBundle
import KeepsakeValues
import TestSupport
import Testing

/// Bundles as Xcode ships them, compiled, and in the encodings of editors.
@Suite struct BundleFormatTests {
  let folder: Folder

  init() throws { folder = try Folder() }

  /// As Foundation writes it: equal scalars are one object.
  private func write(compiled xml: String, to file: String) throws {
    let list = try PropertyListSerialization.propertyList(from: Data(xml.utf8), format: nil)
    let data = try PropertyListSerialization.data(
      fromPropertyList: list, format: .binary, options: 0)
    try folder.write("", to: file)
    try data.write(to: URL(fileURLWithPath: "\(folder.path)/\(file)"))
  }

  @Test func aCompiledBundleSeedsWithItsKeyPathsAsPlaces() throws {
    try write(compiled: pane(toggle("a"), child("B"), toggle("c")), to: "Root.plist")
    try write(compiled: pane(toggle("b")), to: "B.plist")
    #expect(
      outcome(folder.path, .strict) == [
        "a=true Root.plist:PreferenceSpecifiers[0].DefaultValue",
        "b=true B.plist:PreferenceSpecifiers[0].DefaultValue",
        "c=true Root.plist:PreferenceSpecifiers[2].DefaultValue",
      ])
    let bundle = try SettingsBundle(at: folder.path)
    #expect(bundle.declarations.map(\.place).first == "Root.plist:PreferenceSpecifiers[0]")
  }

  @Test func faultsOfACompiledBundleTellTheirKeyPath() throws {
    try write(
      compiled: pane(toggle("a", "<string>NO</string>"), toggle("b", "<string>NO</string>")),
      to: "Root.plist")
    let error = #expect(throws: PropertyListError.self) { try SettingsBundle(at: folder.path) }
    #expect(error?.position == nil)
    #expect(error?.keyPath == "PreferenceSpecifiers[0].DefaultValue")
    #expect(
      error?.description == folder.path + "/Root.plist:PreferenceSpecifiers[0].DefaultValue: "
        + #"the DefaultValue of the toggle switch "a", a string, is neither its TrueValue nor its "#
        + "FalseValue; use one of them, of the same type")
    let lenient = try SettingsBundle(at: folder.path, mode: .lenient)
    #expect(
      lenient.warnings.map(\.keyPath) == [0, 1].map { "PreferenceSpecifiers[\($0)].DefaultValue" })
  }

  @Test func conflictingDefaultsOfACompiledBundleTellBothPlaces() throws {
    try write(compiled: pane(toggle("a"), toggle("a", "<false/>")), to: "Root.plist")
    let error = #expect(throws: PropertyListError.self) { try SettingsBundle(at: folder.path) }
    #expect(error?.keyPath == "PreferenceSpecifiers[1].DefaultValue")
    #expect(
      error?.message.hasPrefix(
        "the key \"a\" has another default at "
          + "Root.plist:PreferenceSpecifiers[0].DefaultValue; ") == true)
  }

  @Test func aDamagedPaneIsAWarningWhenLenient() throws {
    try folder.write(pane(child("B"), toggle("a")), to: "Root.plist")
    try folder.write("bplist00 and no more", to: "B.plist")
    #expect(outcome(folder.path, .strict) == ["error B.plist malformedBinary"])
    let lenient = try SettingsBundle(at: folder.path, mode: .lenient)
    #expect(lenient.seeds.map(\.key) == ["a"])
    #expect(
      lenient.warnings.map(\.description) == [
        "B.plist: at byte 0: this property list is damaged: it is truncated, or has an unknown "
          + "version; restore a copy"
      ])
  }

  /// A pane of a few bytes may stand for megabytes.
  @Test func whatAPaneExpandsToCountsTowardsTheLimits() throws {
    let footer = "<string>\(String(repeating: "f", count: 1000))</string>"
    let group = members("PSGroupSpecifier", ["FooterText": footer])
    let rows = [String](repeating: group, count: 50) + [child("A"), child("B")]
    let text = pane("").replacing(
      "<dict></dict>", with: rows.map { "<dict>\($0)</dict>" }.joined())
    try write(compiled: text, to: "Root.plist")
    for file in ["A", "B"] { try write(compiled: pane(toggle(file)), to: "\(file).plist") }
    var limits = SettingsBundle.Limits()
    limits.bytes = 60_000
    #expect(outcome(folder.path, .strict, limits: limits).count == 2)
    limits.bytes = 50_000
    #expect(outcome(folder.path, .strict, limits: limits) == ["error Root.plist fileTooLarge"])
  }

  @Test func aCompiledTableSeeds() throws {
    try write(compiled: document("<dict><key>b</key><real>1</real></dict>"), to: "D.plist")
    let bundle = try SettingsBundle(at: folder.path + "/D.plist")
    #expect(bundle.seeds.map(\.value) == [.real(1)] && bundle.seeds.map(\.place) == ["D.plist:b"])
  }

  @Test(arguments: [
    String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32, .utf32LittleEndian,
    .utf32BigEndian,
  ])
  func wideTextIsRefused(_ encoding: String.Encoding) throws {
    let data = try #require(document("<string/>").data(using: encoding))
    #expect(refusal(Array(data)) == "1:1 unsupportedEncoding")
  }
}
