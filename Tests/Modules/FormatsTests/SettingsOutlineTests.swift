// SPDX-License-Identifier: Apache-2.0

import BundleSupport
import Foundation
import KeepsakeFormats
import KeepsakeSettingsBundle
import KeepsakeValues
import TestSupport
import Testing

@Suite struct SettingsOutlineTests {
  let folder: Folder

  init() throws { folder = try Folder() }

  private func lines(_ idiom: SettingsBundle.Idiom? = nil) throws -> [String] {
    let bundle = try SettingsBundle(at: folder.path, mode: .lenient, idiom: idiom)
    return lines(bundle.outline(idiom: idiom), "")
  }

  private func lines(_ pane: SettingsOutline, _ indent: String) -> [String] {
    var lines = ["\(indent)\(pane.file) \(pane.title ?? "-")"]
    for group in pane.groups {
      lines.append("\(indent)  \(group.title ?? "-") / \(group.footer ?? "-")")
      for row in group.rows {
        let choices = row.choices.map { ($0.isDefault ? "*" : "") + $0.title }
        lines.append("\(indent)    \(row.specifier.kind.name) \(row.title ?? "-") \(choices)")
        switch row.child {
        case .pane(let child)?: lines += self.lines(child, indent + "      ")
        case .shownAbove(let file)?: lines.append("\(indent)      see \(file)")
        case .missing?: lines.append("\(indent)      missing")
        case .refused?: lines.append("\(indent)      refused")
        case nil: break
        }
      }
    }
    return lines
  }

  private func titled(_ text: String) -> String {
    text.replacing("<key>Pref", with: "<key>Title</key><string>t</string><key>Pref")
  }

  @Test func groupsHoldTheRowsThatFollowThem() throws {
    let group = members(
      "PSGroupSpecifier", ["Title": "<string>G</string>", "FooterText": "<string>F</string>"])
    try folder.write(
      titled(pane(toggle("a"), group, toggle("b"), toggle("c"), members("PSGroupSpecifier"))),
      to: "Root.plist")
    #expect(
      try lines() == [
        "Root.plist t", "  - / -", "    toggle switch t []", "  G / F", "    toggle switch t []",
        "    toggle switch t []", "  - / -",
      ])
  }

  @Test func choicesAreMarkedAndSorted() throws {
    func choice(_ type: String, _ rest: String) -> String {
      members(
        type,
        [
          "Title": "<string>t</string>", "Key": "<string>k</string>",
          "DefaultValue": "<integer>2</integer>",
          "Values": "<array><real>3</real><real>2</real></array>",
          "Titles": "<array><string>c</string><string>A</string></array>",
        ]) + rest
    }
    let sorted = "<key>DisplaySortedByTitle</key><true/>"
    try folder.write(
      titled(
        pane(
          choice("PSMultiValueSpecifier", ""), choice("PSMultiValueSpecifier", sorted),
          choice("PSRadioGroupSpecifier", ""))), to: "Root.plist")
    #expect(
      try lines() == [
        "Root.plist t", "  - / -", #"    multi-value t ["c", "*A"]"#,
        #"    multi-value t ["*A", "c"]"#, "  t / -", #"    radio group t ["c", "*A"]"#,
      ])
  }

  @Test func childPanesStandInTheirRowsAndOnlyOnce() throws {
    try folder.write(
      titled(pane(child("A"), child("A"), child("Gone"), child("Root"))), to: "Root.plist")
    try folder.write(pane(toggle("a"), child("Root"), child("A")), to: "A.plist")
    #expect(
      try lines() == [
        "Root.plist t", "  - / -", "    child pane t []", "      A.plist t", "        - / -",
        "          toggle switch t []", "          child pane t []", "            see Root.plist",
        "          child pane t []", "            see A.plist", "    child pane t []",
        "      see A.plist", "    child pane t []", "      missing", "    child pane t []",
        "      see Root.plist",
      ])
  }

  @Test func filesAndRowsForADeviceCountThere() throws {
    let pad =
      toggle("p").replacing(">t<", with: ">pad<")
      + "<key>SupportedUserInterfaceIdioms</key><array><string>Pad</string></array>"
    try folder.write(pane(toggle("a"), pad, child("A")), to: "Root.plist")
    try folder.write(pane(), to: "A.plist")
    try folder.write(pane(toggle("x").replacing(">t<", with: ">x<")), to: "A~ipad.plist")
    let head = ["Root.plist -", "  - / -", "    toggle switch t []"]
    #expect(
      try lines() == head + [
        "    toggle switch pad []", "    child pane t []", "      A.plist t",
      ])
    #expect(try lines(.phone) == head + ["    child pane t []", "      A.plist t"])
    #expect(
      try lines(.pad) == head + [
        "    toggle switch pad []", "    child pane t []", "      A~ipad.plist t",
        "        - / -", "          toggle switch x []",
      ])
  }

  @Test func filesForADeviceSeedThere() throws {
    try folder.write(pane(toggle("a"), child("A")), to: "Root.plist")
    try folder.write(pane(toggle("b")), to: "A.plist")
    try folder.write(pane(toggle("phone"), child("A")), to: "Root~iphone.plist")
    try folder.write(pane(toggle("pad")), to: "A~ipad.plist")
    func keys(_ idiom: SettingsBundle.Idiom?) throws -> [String] {
      try SettingsBundle(at: folder.path, idiom: idiom).seeds.map(\.key)
    }
    #expect(try keys(nil) == ["a", "b"])
    #expect(try keys(.phone) == ["phone", "b"])
    #expect(try keys(.pad) == ["a", "pad"])
  }

  @Test(arguments: ["<true/>", "<string/>", "<integer>1</integer>"])
  func groupThatIsNoNameIsRefused(_ xml: String) throws {
    let key = "<key>ApplicationGroupContainerIdentifier</key>"
    try folder.write(
      pane(toggle("a")).replacing("<key>Pref", with: "\(key)\(xml)<key>Pref"), to: "Root.plist")
    #expect(outcome(folder.path, .strict) == ["error Root.plist:4:\(key.count + 1) wrongType"])
    #expect(outcome(folder.path, .lenient).last == "warning Root.plist:4:\(key.count + 1)")
    #expect(try SettingsBundle(at: folder.path, mode: .lenient).suite == nil)
  }

  @Test(arguments: [
    ("<true/>", "", true), ("<false/>", "", false), ("<integer>1</integer>", "", nil),
    ("<string>on</string>", "<key>TrueValue</key><string>on</string>", true),
    ("<integer>0</integer>", "<key>FalseValue</key><real>0</real>", false),
  ])
  func toggleIsOnWhenItsDefaultIsTheTrueValue(
    _ value: String, _ rest: String, _ expected: Bool?
  ) throws {
    try folder.write(pane(toggle("a", value) + rest), to: "Root.plist")
    let bundle = try SettingsBundle(at: folder.path, mode: .lenient)
    #expect(bundle.panes[0].specifiers[0].isOn == expected)
  }

  @Test func aPaneThatWasRefusedIsNotCalledMissing() throws {
    try folder.write(
      pane(child("Gone"), child("Bad"), child("../Out"), child("Bad"), child("Dir")),
      to: "Root.plist")
    try folder.write("<plist>", to: "Bad.plist")
    try folder.write("", to: "Dir.plist/x")
    let ends = try lines().filter { $0.hasPrefix("      ") }.map { $0.drop { $0 == " " } }
    #expect(ends == ["missing", "refused", "refused", "refused", "refused"])
  }
}
