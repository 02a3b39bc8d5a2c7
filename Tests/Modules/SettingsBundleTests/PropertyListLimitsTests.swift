// SPDX-License-Identifier: Apache-2.0

import BundleSupport
import KeepsakeSettingsBundle
import Testing

@Suite struct PropertyListLimitsTests {
  private func limits(_ change: (inout PropertyListLimits) -> Void) -> PropertyListLimits {
    var limits = PropertyListLimits()
    change(&limits)
    return limits
  }

  @Test func defaultsAreTheDocumentedOnes() {
    let limits = PropertyListLimits()
    #expect(limits.bytes == 4_194_304)
    #expect(limits.depth == 64)
    #expect(limits.elements == 100_000)
    #expect(limits.textBytes == 1_048_576)
    let bundle = SettingsBundle.Limits()
    #expect((bundle.panes, bundle.paneDepth) == (20_000, 16))
    #expect((bundle.bytes, bundle.elements) == (64 << 20, 1_000_000))
  }

  @Test(arguments: [-1, 0, 1])
  func sizeEndsAtTheLimit(_ over: Int) {
    let text = document("<true/>")
    let result = refusal(text, limits: limits { $0.bytes = text.utf8.count - over })
    #expect(result == (over > 0 ? "- fileTooLarge" : "accepted"))
  }

  /// 512 whatever is asked for: what is nested deeper could not be freed.
  @Test(arguments: [("array", 64), ("dict", 64), ("array", 512), ("dict", 512)], [-1, 0, 1])
  func depthEndsAtTheLimit(_ place: (kind: String, limit: Int), _ over: Int) {
    let (kind, limit) = place
    let depth = limit + over
    let open = kind == "array" ? "<array>" : "<dict><key>a</key>"
    let text =
      String(repeating: open, count: depth - 1) + "<\(kind)/>"
      + String(repeating: "</\(kind)>", count: depth - 1)
    let column = open.utf8.count * limit + 1
    let result = refusal(document(text), limits: limits { if limit > 64 { $0.depth = .max } })
    #expect(result == (over > 0 ? "3:\(column) tooDeep" : "accepted"))
  }

  @Test(arguments: [-1, 0, 1])
  func elementsEndAtTheLimit(_ over: Int) {
    // An array, and in it 2 elements and a dictionary with 2 keys and 2 values: 8.
    let text =
      "<array><true/><real>1</real><dict><key>a</key><true/><key>b</key><data/></dict></array>"
    let result = refusal(document(text), limits: limits { $0.elements = 8 - over })
    #expect(result == (over > 0 ? "3:66 tooManyElements" : "accepted"))
  }

  @Test(arguments: [-1, 0, 1])
  func elementsEndAtTheDefaultLimit(_ over: Int) {
    let text = "<array>" + String(repeating: "<true/>", count: 99_999 + over) + "</array>"
    let result = refusal(document(text))
    #expect(result == (over > 0 ? "3:\(7 + 99_999 * 7 + 1) tooManyElements" : "accepted"))
  }

  /// Texts of ten bytes.
  static let tens = [
    "<string>0123456789</string>", "<string>01234&amp;6789</string>",
    "<string>&#x1F600;456789</string>",
    "<string>01<![CDATA[234567]]>89</string>", "<string><![CDATA[0123456789]]></string>",
    "<string>&lt;&lt;&lt;&lt;&lt;&lt;&lt;&lt;&lt;&lt;</string>",
    "<integer>0000000001</integer>", "<real>0.12345678</real>", "<data>\n AAAAAAAA</data>",
    "<dict><key>0123456789</key><true/></dict>", "<string>éééé01</string>",
  ]

  @Test(arguments: tens, [-1, 0, 1])
  func textEndsAtTheLimit(_ xml: String, _ over: Int) {
    let result = refusal(document(xml), limits: limits { $0.textBytes = 10 - over })
    let place = xml.hasPrefix("<dict>") ? "3:7" : "3:1"
    #expect(result == (over > 0 ? "\(place) textTooLong" : "accepted"))
  }

  @Test(arguments: ["<array>", "<dict><key>a</key>", "<plist>", "<array><array>"])
  func hostileNestingIsAnErrorNotACrash(_ open: String) {
    let text = document(String(repeating: open, count: 100_000))
    #expect(refusal(text) != "accepted")
    #expect(
      refusal(
        text,
        limits: limits {
          $0.depth = .max; $0.elements = .max
        }) != "accepted")
  }

  @Test(arguments: [-1, 0, 1])
  func combiningMarksOfAKeyEndAtTheLimit(_ over: Int) {
    let marks = String(repeating: "\u{323}\u{301}", count: 16).unicodeScalars.prefix(30 + over)
    let key = "a\(String(marks))b\(String(marks))"
    let result = refusal(document("<dict><key>\(key)</key><true/></dict>"))
    #expect(result == (over > 0 ? "3:7 textTooLong" : "accepted"))
  }

  /// Each of these takes minutes once keys are compared by canonical equivalence without a limit.
  @Test func hostileCombiningMarksCostNoTime() throws {
    let (low, high) = (
      String(repeating: "\u{323}", count: 50_000), String(repeating: "\u{301}", count: 50_000)
    )
    for key in ["a" + low + high, "a" + high + low, low, high] {
      try expectLittleWork {
        #expect(
          refusal(document("<dict><key>b</key><true/><key>\(key)</key><true/></dict>"))
            == "3:26 textTooLong")
      }
    }
  }

  @Test func hugeLimitsAreNoTrap() {
    let all = limits {
      $0.bytes = .max; $0.depth = .max; $0.elements = .max; $0.textBytes = .max
    }
    #expect(refusal(document("<string>&amp;</string>"), limits: all) == "accepted")
    let none = limits {
      $0.bytes = -1; $0.depth = -1; $0.elements = -1; $0.textBytes = -1
    }
    #expect(refusal(document("<true/>"), limits: none) == "- fileTooLarge")
  }
}
