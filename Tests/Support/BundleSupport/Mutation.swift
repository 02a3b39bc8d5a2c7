// SPDX-License-Identifier: Apache-2.0

/// Property lists and random changes of their bytes.
package enum Mutation {
  package static let documents: [String] = [
    "<plist><true/></plist>",
    document("<dict><key>a</key><string>é&amp;😀</string><key>b</key><data>AAAA</data></dict>"),
    document(
      "<array><integer>-12</integer><real>1.5e3</real><date>2020-01-01T00:00:00Z</date></array>"),
    document("<string>x<![CDATA[<&]]>y&#x41;&#65;</string>"),
    "\u{FEFF}<?xml version='1.0' encoding='UTF-8' standalone='yes'?>\r\n"
      + "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/x.dtd\">"
      + "<!-- comment --><?pi text?><plist version=\"1.0\"><true></true><!-- --></plist>",
    document(
      """
      <dict>
        <key>PreferenceSpecifiers</key>
        <array>
          <dict>
            <key>Type</key><string>PSToggleSwitchSpecifier</string>
            <key>DefaultValue</key><false  />
          </dict>
        </array>
      </dict>
      """),
  ]

  package static func change(_ bytes: inout [UInt8], _ chance: inout Chance) {
    let alphabet = Array("<>/&;#x![]-?\"'= \n\0\u{7F}aAé0".utf8) + [0xFF, 0xC3]
    guard !bytes.isEmpty else { return }
    let index = chance.below(bytes.count)
    switch chance.below(5) {
    case 0: bytes[index] = alphabet[chance.below(alphabet.count)]
    case 1: bytes.insert(alphabet[chance.below(alphabet.count)], at: index)
    case 2: bytes.remove(at: index)
    case 3: bytes[index] ^= 1 << UInt8(chance.below(8))
    default:
      let end = min(bytes.count, index + chance.below(20))
      let copy = bytes[index..<end]
      bytes.insert(contentsOf: copy, at: chance.below(bytes.count + 1))
    }
  }
}
