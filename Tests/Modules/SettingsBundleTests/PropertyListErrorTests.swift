// SPDX-License-Identifier: Apache-2.0

import BundleSupport
import KeepsakeSettingsBundle
import TestSupport
import Testing

@Suite struct PropertyListErrorTests {
  private func failure(_ text: String) -> PropertyListError? {
    do throws(PropertyListError) {
      _ = try PropertyList.parse(Array(text.utf8), file: "a/Root.plist")
      return nil
    } catch {
      return error
    }
  }

  @Test func descriptionIsPlaceThenTroubleThenCure() throws {
    let error = try #require(failure(document("<integer>1.5</integer>")))
    #expect(
      error.description
        == "a/Root.plist:3:1: this is not an integer;"
        + " write decimal digits, or 0x and hexadecimal ones"
    )
    #expect(error.position?.offset == 61)
    #expect(error.file == "a/Root.plist")
  }

  static let paths: [(String, String?)] = [
    ("<integer>x</integer>", nil), ("<array><true/><integer/></array>", "[1]"),
    ("<dict><key>a</key><integer/></dict>", "a"),
    (
      "<dict><key>a</key><true/><key>b c</key><array><dict><key>d</key><real/></dict></array>",
      #"["b c"][0].d"#
    ),
    ("<dict><key>a</key><array><true/><dict><true/></dict></array></dict>", "a[1]"),
    ("<array><array><array/><array><x/></array></array></array>", "[0][1][0]"),
  ]

  @Test(arguments: paths)
  func keyPathLeadsToThePlace(_ xml: String, _ path: String?) throws {
    #expect(try #require(failure(document(xml))).keyPath == path)
  }

  @Test func namesFromTheFileStayOnOneShortLine() throws {
    let key = "line\nbreak\u{85}" + String(repeating: "x", count: 500)
    let body = "<dict><key>\(key)</key><true/><key>\(key)</key><true/></dict>"
    let error = try #require(failure(document(body)))
    #expect(error.description.utf8.count < 200)
    #expect(error.description.hasPrefix(#"a/Root.plist:4:"#))
    #expect(error.description.contains(#""line\nbreak\u{0085}xxx"#))
    #expect(!error.description.contains("\n"))
  }

  @Test func everyMessageEndsWithACure() {
    for (xml, _) in RefusedInputTests.values {
      let parts = failure(document(xml))?.message.split(separator: "; ") ?? []
      #expect(parts.count >= 2, "\(xml)")
    }
    for (text, _) in RefusedInputTests.documents {
      let parts = failure(text)?.message.split(separator: "; ") ?? []
      #expect(parts.count >= 2, "\(text)")
    }
  }

  @Test func foreignFormatsNameTheirCure() {
    #expect(failure("{}")?.message.contains("plutil -convert xml1") == true)
  }

  @Test func anIntegerThatNoRealIsHasWordsForIt() throws {
    let folder = try Folder()
    let row = members(
      "PSSliderSpecifier",
      [
        "Key": "<string>k</string>", "DefaultValue": "<integer>9007199254740993</integer>",
        "MinimumValue": "<integer>0</integer>", "MaximumValue": "<integer>1</integer>",
      ])
    try folder.write(pane(row), to: "Root.plist")
    let error = #expect(throws: PropertyListError.self) { try SettingsBundle(at: folder.path) }
    #expect(
      error?.message
        == "the DefaultValue of the slider \"k\" is an integer that no Double represents exactly; "
        + "write it as a <real>, or use one of at most 9007199254740992")
  }
}
