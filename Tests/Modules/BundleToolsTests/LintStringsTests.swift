// SPDX-License-Identifier: Apache-2.0

import BundleSupport
import Foundation
import KeepsakeBundleTools
import KeepsakeSettingsBundle
import Testing

/// What lint says about translations, if it is asked.
@Suite struct LintStringsTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func findings(_ rules: Set<LintRule>? = LintRule.named("translations")) throws -> [String]
  {
    try SettingsBundle.lint(at: folder.path, rules: rules ?? []).map {
      "\($0.place) \($0.rule) \($0.message.prefix { $0 != ";" })"
    }
  }

  /// A pane with a table, and a toggle for each title, a line each from line 7 on.
  private func write(_ titles: String..., to file: String = "Root.plist") throws {
    let rows = titles.enumerated().map {
      "\n<dict>\(toggle("k\($0)").replacing(">t<", with: ">\($1)<"))</dict>"
    }
    let text = pane("").replacing("<dict></dict>", with: rows.joined())
    try folder.write(
      text.replacing("<key>Pref", with: "<key>StringsTable</key><string>Root</string><key>Pref"),
      to: file)
  }

  @Test func translationsAreCheckedOnlyWhenAskedFor() throws {
    try write("Sound")
    #expect(try SettingsBundle.lint(at: folder.path).isEmpty)
    let missing =
      "Root.plist:4:24 missing-strings there is no \"Root.strings\" in any .lproj folder"
    #expect(try findings() == [missing])
    #expect(try findings(LintRule.named("all")) == [missing])
    #expect(try findings([.missingStrings]) == [missing])
    #expect(try findings(LintRule.named("default")) == [])
    #expect(try findings([.unusedTranslation]) == [])
  }

  @Test func titlesAreComparedWithTranslations() throws {
    try write("t", "u")
    try folder.write("t = T; u = U;\nt = S;\nlost = L;", to: "en.lproj/Root.strings")
    try folder.write("t = T;", to: "de.lproj/Root.strings")
    try folder.write("x = x;", to: "fr.lproj/Other.strings")
    try folder.write("u = ;", to: "it.lproj/Root.strings")
    try folder.write("x", to: "Base.lproj/Main.storyboard")
    #expect(
      try findings() == [
        "Root.plist:4:24 missing-strings there is no \"Root.strings\" in fr.lproj",
        "Root.plist:8:78 untranslated-title \"u\" has no translation in de",
        "en.lproj/Root.strings:2:1 repeated-translation \"t\" is translated twice",
        "en.lproj/Root.strings:3:1 unused-translation \"lost\" is not a title of a pane",
        "it.lproj/Root.strings:1:5 malformed-strings expected a quoted string",
      ])
  }

  @Test func plainTextNeedsNoTranslationUnlessALanguageHasOne() throws {
    try write("WireGuard iOS", "5%", "Version 1.2", "Sound")
    try folder.write("Sound = Ton;", to: "de.lproj/Root.strings")
    for english in ["en", "en-GB", "en_AU", "English", "Base"] {
      try folder.write("", to: "\(english).lproj/Root.strings")
    }
    #expect(try findings() == [])
    try folder.write("", to: "fr.lproj/Root.strings")
    #expect(
      try findings() == ["Root.plist:10:78 untranslated-title \"Sound\" has no translation in fr"])
  }

  @Test func theNameOfATextNeedsATranslationInEveryLanguage() throws {
    try write("SOUND_TITLE", "settings.sound", "sound_2")
    try folder.write("sound_2 = S;", to: "en.lproj/Root.strings")
    try folder.write("", to: "de.lproj/Root.strings")
    #expect(
      try findings() == [
        "Root.plist:7:78 untranslated-title \"SOUND_TITLE\" has no translation in de, en",
        "Root.plist:8:78 untranslated-title \"settings.sound\" has no translation in de, en",
        "Root.plist:9:78 untranslated-title \"sound_2\" has no translation in de",
      ])
  }

  @Test func whatXcodesTemplateTranslatesIsNotUnused() throws {
    try write("Sound")
    let template = ["Group", "Name", "none given", "Enabled"]
    try folder.write(
      template.map { "\"\($0)\" = \"\($0)\";" }.joined(), to: "en.lproj/Root.strings")
    #expect(try findings() == [])
  }

  @Test func whatAnotherPropertyListOfTheBundleSaysIsUsed() throws {
    try write("Sound")
    try write("Only here", to: "Root.inApp.plist")
    try write("For tablets", to: "Root~ipad.plist")
    try folder.write("<plist>", to: "Broken.plist")
    try folder.write(
      "\"Only here\" = A; \"For tablets\" = B; lost = C;", to: "en.lproj/Root.strings")
    #expect(
      try findings() == [
        "en.lproj/Root.strings:1:37 unused-translation \"lost\" is not a title of a pane"
      ])
  }

  @Test func compiledStringsAreComparedByTheirKeys() throws {
    try write("Sound")
    let data = try PropertyListSerialization.data(
      fromPropertyList: ["Sound": "Ton", "lost.key": "x"], format: .binary, options: 0)
    try folder.write("", to: "de.lproj/Root.strings")
    try data.write(to: URL(fileURLWithPath: folder.path + "/de.lproj/Root.strings"))
    #expect(
      try findings() == [
        "de.lproj/Root.strings:[\"lost.key\"] unused-translation "
          + "\"lost.key\" is not a title of a pane"
      ])
  }

  @Test func everyRuleHasAGroupAndAName() {
    #expect(
      LintRule.Group.allCases.flatMap(\.rules).count == LintRule.allCases.count)
    for rule in LintRule.allCases { #expect(LintRule.named(rule.rawValue) == [rule]) }
    #expect(LintRule.named("wrong-type") == nil && LintRule.named("") == nil)
    #expect(
      LintRule.named("all") == LintRule.named("default")?.union(LintRule.Group.translations.rules))
  }

  @Test func noRuleHidesWhatStrictReadingRefuses() throws {
    try folder.write(pane(toggle("a", "<string/>")), to: "Root.plist")
    let found = try SettingsBundle.lint(at: folder.path, rules: [])
    #expect(found.map(\.rule) == ["default-not-among-values"])
  }
}
