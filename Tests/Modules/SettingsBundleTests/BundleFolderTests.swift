// SPDX-License-Identifier: Apache-2.0

import BundleSupport
import Foundation
import KeepsakeSettingsBundle
import KeepsakeValues
import TestSupport
import Testing

@Suite struct BundleFolderTests {
  let folder: Folder

  init() throws { folder = try Folder() }

  private func failure(_ path: String) -> PropertyListError? {
    do throws(PropertyListError) {
      _ = try SettingsBundle(at: path, mode: .lenient)
      return nil
    } catch {
      return error
    }
  }

  @Test func missingFilesHaveTheirOwnCode() throws {
    for path in [folder.path + "/none", folder.path + "/none/Root.plist", ""] {
      #expect(failure(path)?.code == .missing, "\(path)")
      #expect(failure(path)?.file == path)
    }
    let empty = try #require(failure(folder.path))
    #expect(empty.code == .missing)
    #expect(empty.description == "\(folder.path)/Root.plist: there is no such file; check the path")
    #expect(empty.position == nil)
  }

  @Test func aRootInSmallLettersIsNamed() throws {
    try folder.write("<plist><dict/></plist>", to: "root.plist")
    #expect(
      failure(folder.path)?.description
        == "\(folder.path)/Root.plist: there is no such file, but root.plist; "
        + "rename it: devices tell small letters from capital ones")
  }

  @Test func specialFilesAreNotRead() throws {
    #expect(failure("/dev/null")?.code == .notAFile)
    try folder.write("", to: "Root.plist/x")
    #expect(failure(folder.path)?.code == .notAFile)
    #expect(failure(folder.path)?.message.hasPrefix("this is a directory") == true)
  }

  @Test func pipeIsRefusedInsteadOfWaitedFor() throws {
    let path = folder.path + "/Root.plist"
    try #require(mkfifo(path, 0o600) == 0)
    #expect(failure(path)?.code == .notAFile)
    #expect(failure(folder.path)?.code == .notAFile)
  }

  /// Without the check before reading this would ask for 8 TiB of memory.
  @Test func sizeIsCheckedBeforeReading() throws {
    let path = try folder.write(pane(), to: "Root.plist")
    try #require(truncate(path, 8 << 40) == 0, "no sparse files here")
    #expect(failure(folder.path)?.code == .fileTooLarge)
  }

  @Test func nameThatIsTooLongIsUnreadable() {
    let error = failure(folder.path + "/" + String(repeating: "a", count: 300))
    #expect(error?.code == .unreadable)
    #expect(error?.cause != nil)
  }

  @Test(.enabled(if: Unprivileged.isPossible, Unprivileged.need))
  func forbiddenFileHasItsOwnCode() throws {
    let path = try folder.write(pane(), to: "Root.plist")
    try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
    try Unprivileged.run(in: folder.path) {
      #expect(failure(folder.path)?.code == .permissionDenied)
    }
  }

  @Test func remoteURLIsRefused() throws {
    let url = try #require(URL(string: "https://example.com/Settings.bundle"))
    #expect(throws: PropertyListError.self) { try SettingsBundle(at: url) }
  }

  @Test func fileURLIsReadLikeItsPath() throws {
    try folder.write(pane(child("Ä %20")), to: "Se ttings%41.bundle/Root.plist")
    try folder.write(pane(toggle("a")), to: "Se ttings%41.bundle/Ä %20.plist")
    let url = URL(fileURLWithPath: folder.path + "/Se ttings%41.bundle")
    let bundle = try SettingsBundle(at: url)
    #expect(bundle.seeds.map(\.key) == ["a"])
    #expect(bundle.identifier == "Se ttings%41.bundle")
  }

  @Test func plistWithSpecifiersStandsForTheRoot() throws {
    let path = try folder.write(pane(toggle("a"), child("Second")), to: "Main.plist")
    try folder.write(pane(toggle("b"), child("Main")), to: "Second.plist")
    #expect(
      outcome(path, .strict) == ["a=true Main.plist:6", "b=true Second.plist:6"])
    #expect(try SettingsBundle(at: path).identifier == "Main.plist")
  }

  @Test func otherPlistIsAFlatTable() throws {
    let table =
      "<dict>\n<key>b</key>\n<integer>1</integer>\n<key>a</key><dict><key>x</key><true/></dict>"
      + "\n<key>d</key><date>2001-01-01T00:00:01Z</date></dict>"
    let path = try folder.write(document(table), to: "Defaults.plist")
    let bundle = try SettingsBundle(at: path)
    #expect(bundle.seeds.map(\.key) == ["b", "a", "d"])
    #expect(
      bundle.seeds.map(\.value)
        == [1, ["x": true], .date(Date(timeIntervalSinceReferenceDate: 1))])
    #expect(bundle.seeds.map(\.place) == [5, 6, 7].map { "Defaults.plist:\($0)" })
    #expect(bundle.paneCount == 1)
  }

  @Test func flatTableRefusesWhatNoStoreHolds() throws {
    let table =
      "<dict><key>a</key><array><integer>18446744073709551615</integer></array>\n"
      + "<key></key><true/>\n<key>c</key><true/></dict>"
    let path = try folder.write(document(table), to: "t.plist")
    #expect(outcome(path, .strict) == ["error t.plist:3:26 unsignedTooLarge"])
    #expect(
      outcome(path, .lenient)
        == ["c=true t.plist:5", "warning t.plist:3:26", "warning t.plist:4:1"])
  }

  @Test func flatTableHasToBeADictionary() throws {
    let path = try folder.write(document("<array/>"), to: "t.plist")
    #expect(outcome(path, .lenient) == ["error t.plist:3:1 wrongType"])
  }

  @Test func errorsNameThePathAsTheCallerWroteIt() throws {
    try folder.write("<plist>", to: "b/Root.plist")
    for suffix in ["/b", "/b/", "/./b"] {
      let slash = suffix.hasSuffix("/") ? "" : "/"
      #expect(failure(folder.path + suffix)?.file == folder.path + suffix + slash + "Root.plist")
    }
    for suffix in ["/b/Root.plist", "/b/../b/Root.plist"] {
      #expect(failure(folder.path + suffix)?.file == folder.path + suffix)
    }
  }

  @Test func paneHeaderIsAtHand() throws {
    let text = pane(toggle("a")).replacing(
      "<key>Pref",
      with: "<key>Title</key><string>T</string>"
        + "<key>ApplicationGroupContainerIdentifier</key><string>group.x</string><key>Pref")
    try folder.write(text, to: "Root.plist")
    let bundle = try SettingsBundle(at: folder.path)
    #expect(bundle.suite == "group.x")
    let pane = try #require(bundle.panes.first)
    #expect(pane.title == "T")
    #expect(pane.specifiers.map(\.kind) == [.toggleSwitch])
    #expect(pane.specifiers.first?.key == "a")
  }
}
