// SPDX-License-Identifier: Apache-2.0

import BundleSupport
import KeepsakeSettingsBundle
import KeepsakeValues
import TestSupport
import Testing

@Suite struct SettingsSpecifierTests {
  private let folder: Folder
  init() throws { folder = try Folder() }

  @Test(arguments: Specifiers.sound, SettingsBundle.Mode.allCases)
  func soundSpecifierSeeds(
    _ specifier: (String, StoredValue?), _ mode: SettingsBundle.Mode
  ) throws {
    try folder.write(pane(specifier.0), to: "Root.plist")
    let bundle = try SettingsBundle(at: folder.path, mode: mode)
    #expect(bundle.warnings.isEmpty)
    #expect(bundle.seeds.map(\.value) == (specifier.1.map { [$0] } ?? []))
    #expect(bundle.seeds.allSatisfy { $0.key == "k" && $0.place == "Root.plist:6" })
  }

  private static let broken: [(String, PropertyListError.Code, StoredValue?)] =
    Specifiers.broken.map { ($0, $1, nil) } + Specifiers.unfit.map { ($0, $1, $2) }

  @Test(arguments: broken)
  func brokenSpecifierIsThrownOrSkippedOrItsScalarKept(
    _ specifier: String, _ code: PropertyListError.Code, _ kept: StoredValue?
  ) throws {
    let parts = specifier.split(separator: "¦", omittingEmptySubsequences: false)
    let column = parts.count == 1 ? 1 : "<dict>\(parts[0])".unicodeScalars.count + 1
    try folder.write(pane(parts.joined(), toggle("after")), to: "Root.plist")
    #expect(outcome(folder.path, .strict) == ["error Root.plist:6:\(column) \(code.rawValue)"])
    let seeds = kept.map { ["k=\($0) Root.plist:6"] } ?? []
    #expect(
      outcome(folder.path, .lenient)
        == seeds + ["after=true Root.plist:7", "warning Root.plist:6:\(column)"])
  }

  static let untitled = [
    members("PSToggleSwitchSpecifier", ["Key": "<string>k</string>", "DefaultValue": "<true/>"]),
    members(
      "PSMultiValueSpecifier",
      [
        "Key": "<string>k</string>", "DefaultValue": "<true/>", "Values": "<array><true/></array>",
        "Titles": "<array><string/></array>",
      ]),
  ]

  @Test(arguments: untitled)
  func missingTitleCostsNoSeedLeniently(_ specifier: String) throws {
    try folder.write(pane(specifier), to: "Root.plist")
    #expect(outcome(folder.path, .strict) == ["error Root.plist:6:1 requiredKeyMissing"])
    #expect(
      outcome(folder.path, .lenient) == ["k=true Root.plist:6", "warning Root.plist:6:1"])
  }

  @Test func specifierThatIsNoDictionaryIsRefused() throws {
    let text = pane(toggle("a")).replacing("<array>\n", with: "<array>\n<string>x</string>")
    try folder.write(text, to: "Root.plist")
    #expect(outcome(folder.path, .strict) == ["error Root.plist:6:1 wrongType"])
    #expect(
      outcome(folder.path, .lenient) == ["a=true Root.plist:6", "warning Root.plist:6:1"])
  }

  @Test func errorNamesKeyKeyPathAndType() throws {
    let field = Specifiers.keyed(
      "PSTextFieldSpecifier", ["DefaultValue": "<integer>5060</integer>"])
    let path = try folder.write(pane(toggle("a"), field), to: "Root.plist")
    do throws(PropertyListError) {
      _ = try SettingsBundle(at: folder.path)
      Issue.record("accepted")
    } catch {
      #expect(error.keyPath == "PreferenceSpecifiers[1].DefaultValue")
      #expect(
        error.description == "\(path):7:148: the DefaultValue of the text field \"k\" is"
          + " an integer, not a string; change its type")
    }
  }
}
