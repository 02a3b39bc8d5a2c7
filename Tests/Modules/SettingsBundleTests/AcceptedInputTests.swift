// SPDX-License-Identifier: Apache-2.0

import BundleSupport
import KeepsakeSettingsBundle
import Testing

@Suite struct AcceptedInputTests {
  /// A value in the usual wrapping and how `spelled` shows it.
  static let values: [(String, String)] = [
    // Strings.
    ("<string>plain</string>", #""plain""#), ("<string></string>", #""""#), ("<string/>", #""""#),
    ("<string />", #""""#), ("<string >a</string\t>", #""a""#),
    ("<string>  kept  </string>", #""  kept  ""#), ("<string>a\nb</string>", #""a\u{a}b""#),
    ("<string>a\r\nb\rc</string>", #""a\u{d}\u{a}b\u{d}c""#), ("<string>\t</string>", #""\u{9}""#),
    ("<string>é漢😀</string>", #""é漢😀""#),
    ("<string>\u{7F}\u{85}\u{FEFF}</string>", "\"\u{7F}\u{85}\u{FEFF}\""),
    ("<string>&lt;&gt;&amp;&apos;&quot;</string>", #""<>&'"""#),
    ("<string>a&amp;b</string>", #""a&b""#), ("<string>&amp;lt;</string>", #""&lt;""#),
    ("<string>&#65;&#x41;&#x1F600;</string>", #""AA😀""#),
    ("<string>&#x000000000041;&#000000000065;</string>", #""AA""#),
    ("<string>&#9;&#10;&#13;</string>", #""\u{9}\u{a}\u{d}""#),
    ("<string>&#xD7FF;&#xE000;&#xFFFD;</string>", "\"\u{D7FF}\u{E000}\u{FFFD}\""),
    ("<string>&#x10FFFF;</string>", "\"\u{10FFFF}\""), ("<string>&#xe9;</string>", #""é""#),
    ("<string><![CDATA[a<b>&amp;]]></string>", #""a<b>&amp;""#),
    ("<string>x<![CDATA[]]>y</string>", #""xy""#),
    ("<string><![CDATA[]]]]><![CDATA[>]]></string>", #""]]>""#),
    ("<string>]]></string>", #""]]>""#), ("<string>a]]>b</string>", #""a]]>b""#),
    ("<string xml:space='>'>a</string>", #""a""#), ("<string a=b/>", #""""#),
    ("<string>]] ></string>", #""]] >""#), ("<string>]]&gt;></string>", #""]]>>""#),
    ("<string>a > b</string>", #""a > b""#), ("<string>\"'[]{}%</string>", #"""'[]{}%""#),
    ("<string>-- ?></string>", #""-- ?>""#),
    // Booleans.
    ("<true/>", "true"), ("<false/>", "false"), ("<true></true>", "true"),
    ("<false  ></false  >", "false"), ("<true\n/>", "true"), ("<true a=\"b\"/>", "true"),
    // Integers.
    ("<integer>0</integer>", "i0"), ("<integer>-0</integer>", "i0"),
    ("<integer>+7</integer>", "i7"), ("<integer>-12</integer>", "i-12"),
    ("<integer>007</integer>", "i7"), ("<integer>\n 5\t</integer>", "i5"),
    ("<integer>0x1F</integer>", "i31"), ("<integer>0Xff</integer>", "i255"),
    ("<integer>-0x10</integer>", "i-16"),
    ("<integer>9223372036854775807</integer>", "i9223372036854775807"),
    ("<integer>-9223372036854775808</integer>", "i-9223372036854775808"),
    ("<integer>-0x8000000000000000</integer>", "i-9223372036854775808"),
    ("<integer>9223372036854775808</integer>", "u9223372036854775808"),
    ("<integer>18446744073709551615</integer>", "u18446744073709551615"),
    ("<integer>0xFFFFFFFFFFFFFFFF</integer>", "u18446744073709551615"),
    ("<integer>0000000000000000000000000001</integer>", "i1"),
    // Reals.
    ("<real>1</real>", "r1.0"), ("<real>1.</real>", "r1.0"), ("<real>-1.5</real>", "r-1.5"),
    ("<real>.5</real>", "r0.5"),
    ("<real>+0.25</real>", "r0.25"), ("<real>1E+2</real>", "r100.0"),
    ("<real>1e-2</real>", "r0.01"), ("<real>1e2</real>", "r100.0"),
    ("<real>1.5E3</real>", "r1500.0"), ("<real>-0.0</real>", "r-0.0"),
    ("<real>\t2.5\n</real>", "r2.5"), ("<real>1e-400</real>", "r0.0"),
    ("<real>1.7976931348623157e308</real>", "r1.7976931348623157e+308"),
    ("<real>5e-324</real>", "r5e-324"), ("<real>nan</real>", "rnan"), ("<real>NaN</real>", "rnan"),
    ("<real>inf</real>", "rinf"), ("<real>+Inf</real>", "rinf"), ("<real>-inf</real>", "r-inf"),
    ("<real>infinity</real>", "rinf"), ("<real>+INFINITY</real>", "rinf"),
    ("<real>-Infinity</real>", "r-inf"),
    // Dates.
    ("<date>1970-01-01T00:00:00Z</date>", "t0"),
    ("<date>2001-01-01T00:00:00Z</date>", "t978307200"),
    ("<date>1969-12-31T23:59:59Z</date>", "t-1"),
    ("<date>2024-02-29T12:34:56Z</date>", "t1709210096"),
    ("<date>2000-02-29T00:00:00Z</date>", "t951782400"),
    ("<date>0001-01-01T00:00:00Z</date>", "t-62135596800"),
    ("<date>9999-12-31T23:59:59Z</date>", "t253402300799"),
    // Data.
    ("<data></data>", "d"), ("<data/>", "d"), ("<data>SGVsbG8=</data>", "d48656c6c6f"),
    ("<data>\n\tSGVs\r\n\tbG8=\n</data>", "d48656c6c6f"), ("<data>AA==</data>", "d00"),
    ("<data>A A = =</data>", "d00"), ("<data>AAA=</data>", "d0000"),
    ("<data>+/+/</data>", "dfbffbf"), ("<data>////</data>", "dffffff"),
    // Containers.
    ("<array/>", "[]"), ("<array></array>", "[]"),
    ("<array> <true/> <array/> </array>", "[true []]"),
    ("<array><!-- a -- b ---><true/><?pi x?><?1?><?xml?></array>", "[true]"),
    ("<array><string>a</string><integer>1</integer></array>", #"["a" i1]"#), ("<dict/>", "{}"),
    ("<dict></dict>", "{}"), ("<dict><key>a</key><true/></dict>", "{a:true}"),
    ("<dict><key>b</key><true/><key>a</key><false/></dict>", "{b:true a:false}"),
    ("<dict><key/><true/></dict>", "{:true}"), ("<dict><key></key><true/></dict>", "{:true}"),
    ("<dict><key>a</key><!-- c --><true/><!-- d --></dict>", "{a:true}"),
    ("<dict><key>&lt;<![CDATA[&]]></key><true/></dict>", "{<&:true}"),
    ("<dict><key>A</key><true/><key>a</key><true/></dict>", "{A:true a:true}"),
    ("<dict><key>CF$UID</key><integer>1</integer></dict>", "{CF$UID:i1}"),
    ("<dict><key>a</key><dict><key>a</key><array/></dict></dict>", "{a:{a:[]}}"),
    ("<!-- before --><true/><!-- after -->", "true"),
  ]

  @Test(arguments: values)
  func valueHasItsKind(_ xml: String, _ expected: String) throws {
    #expect(spelled(try parse(document(xml))) == expected)
  }

  /// Whole documents with `<true/>` as their value.
  static let documents = [
    "<plist><true/></plist>", "<plist >\n<true/>\n</plist >\n",
    "<plist version=\"1.0\"><true/></plist>", "<plist version='0.9'><true/></plist>",
    "<plist\nversion = \"1.0\" ><true/></plist>", "<plist version=\"\"><true/></plist>",
    "<plist version=1.0 b=\">\"><true/></plist>",
    "\u{FEFF}<plist><true/></plist>", "\u{FEFF}<?xml version=\"1.0\"?><plist><true/></plist>",
    " \n\t<plist><true/></plist>", "\n<?xml version=\"1.0\"?><plist><true/></plist>",
    "<?xml version='1.0' encoding='utf-8'?><plist><true/></plist>",
    "<?xml version=\"1.0\" encoding=\"UTF8\" ?><plist><true/></plist>",
    "<?xml version=\"1.0\" encoding=\"us-ascii\"?><plist><true/></plist>",
    "<?xml version = \"1.0\" standalone=\"yes\"?><plist><true/></plist>",
    "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone='no' ?><plist><true/></plist>",
    "<?xml version=1.0 encoding=UTF-8?>\n<plist><true/></plist>", "<?xml?><plist><true/></plist>",
    "<?xml version=\"1.1\" encoding = \"ISO-8859-1\"?><plist><true/></plist>",
    "<!DOCTYPE plist x><plist><true/></plist>",
    "<?xml-stylesheet href=\"a\"?><plist><true/></plist>", "<?xmlish?><plist><true/></plist>",
    "<!---->\n<!-- - -->\n<plist><true/></plist>", "<!DOCTYPE plist><plist><true/></plist>",
    "<!DOCTYPE plist ><plist><true/></plist>",
    "<!DOCTYPE plist SYSTEM \"file://localhost/x.dtd\"><plist><true/></plist>",
    "<!DOCTYPE plist PUBLIC \"-//A//B [x]//EN\" \"http://x/y.dtd\" ><plist><true/></plist>",
    "<!DOCTYPE plist PUBLIC '>' '<'><plist><true/></plist>",
    "<!-- a --><!DOCTYPE plist><!-- b --><?c?><plist><true/></plist>",
    "<plist><true/></plist><!-- after --><?pi?>\r\n",
  ]

  @Test(arguments: documents)
  func documentIsAccepted(_ text: String) throws {
    #expect(spelled(try parse(text)) == "true")
  }

  @Test func manyMembersKeepTheirOrder() throws {
    let keys = (0..<1000).map { "k\($0 * 7919 % 1000)" }
    let body = keys.map { "<key>\($0)</key><string>v</string>" }.joined()
    let root = try parse(document("<dict>\(body)</dict>"))
    #expect(root.members?.map(\.key) == keys)
  }

  @Test func everyNodeAndKeyKnowsItsPlace() throws {
    let text = document("<dict>\n<key>é</key> <array><real>1</real>\n<data/></array></dict>")
    let root = try parse(text)
    let member = try #require(root.members?.first)
    let elements = try #require(member.value.array)
    let map = SourceMap(Array(text.utf8))
    let places = [root.offset, member.keyOffset, member.value.offset] + elements.map(\.offset)
    #expect(
      places.map { "\(map.position(of: Int($0)))" } == ["3:1", "4:1", "4:14", "4:21", "5:1"])
  }
}
