// SPDX-License-Identifier: Apache-2.0

import KeepsakeSettingsBundle
import Testing

@Suite struct RobustnessTests {
  static let fixtures: [String] = [
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

  @Test(arguments: fixtures)
  func everyTruncationIsAnErrorAboutTheEnd(_ text: String) {
    let bytes = Array(text.utf8)
    #expect(refusal(bytes) == "accepted")
    // A cut inside of a character, or of the byte order mark, is found before the end is.
    let ends =
      ["unexpectedEnd", "empty", "invalidUTF8"] + (text.hasPrefix("\u{FEFF}") ? ["notXML"] : [])
    for length in bytes.indices {
      let result = refusal(Array(bytes[..<length]))
      #expect(ends.contains { result.hasSuffix($0) }, "the first \(length) bytes: \(result)")
    }
  }

  @Test func mutationsNeverCrash() throws {
    let seed = Chance.seed
    var chance = Chance(seed: seed)
    var outcomes: [String: Int] = [:]
    for round in Chance.rounds(6000) {
      var bytes = Array(Self.fixtures[round % Self.fixtures.count].utf8)
      for _ in 0...chance.below(3) { Self.mutate(&bytes, &chance) }
      let result = refusal(bytes)
      outcomes[String(result.split(separator: " ").last ?? ""), default: 0] += 1
      if result == "accepted" {
        let root = try PropertyList.parse(bytes, file: "a.plist").root
        let again = try PropertyList.parse(PropertyList.write(root.value), file: "b.plist").root
        #expect(spelled(root).count == spelled(again).count, "KEEPSAKE_SEED=\(seed) \(bytes)")
      }
      // A refusal has a place inside of the file.
      let line = result.split(separator: ":").first.flatMap { Int($0) }
      #expect(result == "accepted" || line != nil, "KEEPSAKE_SEED=\(seed) \(bytes)")
    }
    #expect(outcomes.count > 15, "mutations that only meet \(outcomes) test little")
  }

  private static func mutate(_ bytes: inout [UInt8], _ chance: inout Chance) {
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

  @Test func randomBytesNeverCrash() {
    let seed = Chance.seed
    var chance = Chance(seed: seed)
    for _ in Chance.rounds(2000) {
      let bytes = (0..<chance.below(64)).map { _ in UInt8(chance.below(256)) }
      #expect(refusal(bytes) != "accepted", "KEEPSAKE_SEED=\(seed)")
      #expect(refusal(Array("<plist>".utf8) + bytes) != "accepted", "KEEPSAKE_SEED=\(seed)")
    }
  }
}
