// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeSettingsBundle
import Peers

private let foundation = "Foundation's PropertyListSerialization"
private let libplist = "libplist"
private let look = "a look at each byte"
private let size = Scale.isQuick ? 1_000_000 : 10_000_000

func propertyLists(_ report: Report) {
  report.run(parses(settingsFile(size), "XML"))
  do {
    report.run(parses(try binaryFile(size), "a binary list"))
  } catch {
    report.fail("parse a binary list", "\(error)")
  }
}

private func parses(_ bytes: [UInt8], _ format: String) -> Race {
  var limits = PropertyListLimits()
  (limits.bytes, limits.elements, limits.textBytes) = (.max, .max, .max)
  let race = Race(seconds: 6)
  race.enter("ours") { [limits] in
    try nanoseconds { _ in
      // The full tree, whose nodes and lines have their places.
      let list = try PropertyList.parse(bytes, file: "benchmark.plist", limits: limits)
      blackHole(list)
      blackHole(list.sourceMap())
    }
  }
  let data = Data(bytes)
  race.enter(foundation) {
    try nanoseconds { _ in
      blackHole(try PropertyListSerialization.propertyList(from: data, format: nil))
    }
  }
  race.enter(libplist, { try require(peer_is_installed(PeerPlist)) }) {
    try nanoseconds { _ in
      let isParsed = data.withUnsafeBytes {
        peer_parse_plist(
          $0.bindMemory(to: CChar.self).baseAddress, $0.count, PropertyList.isBinary(bytes))
      }
      guard isParsed else { throw Failure("the list is refused") }
    }
  }
  race.enter(look) {
    nanoseconds { _ in blackHole(bytes.reduce(into: UInt8(0)) { $0 ^= $1 }) }
  }
  race.row(
    "parse \((bytes.count + 500_000) / 1_000_000) MB of \(format)", "ours",
    beside: [foundation, libplist, look])
  return race
}

private func require(_ isInstalled: Bool) throws {
  guard isInstalled else { throw Failure("not installed") }
}

/// The same rows as Foundation writes them: a string that repeats is there once.
private func binaryFile(_ size: Int) throws -> [UInt8] {
  let rows = (0..<size / 260).map { count in
    [
      "Type": "PSMultiValueSpecifier", "Title": "Row \(count)", "Key": "row_\(count)",
      "DefaultValue": count, "Values": [1, 2, count], "Titles": ["One", "Two", "Many \(count)"],
    ] as [String: Any]
  }
  let data = try PropertyListSerialization.data(
    fromPropertyList: ["PreferenceSpecifiers": rows], format: .binary, options: 0)
  return Array(data)
}

/// A pane that repeats one row of each type, formatted as by Xcode.
private func settingsFile(_ size: Int) -> [UInt8] {
  let types: [(String, [(String, String)])] = [
    ("Group", [("FooterText", "<string>What these are for, &amp; a few words more, é.</string>")]),
    ("ToggleSwitch", [("DefaultValue", "<true/>")]),
    (
      "Slider",
      [
        ("DefaultValue", "<real>0.5</real>"), ("MinimumValue", "<integer>0</integer>"),
        ("MaximumValue", "<integer>1</integer>"),
      ]
    ),
    (
      "TextField",
      [("DefaultValue", "<string>value</string>"), ("KeyboardType", "<string>Alphabet</string>")]
    ),
    ("MultiValue", [("DefaultValue", "<integer>1</integer>"), ("Values", list), ("Titles", list)]),
  ]
  var text =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\">\n<dict>\n"
    + "\t<key>PreferenceSpecifiers</key>\n\t<array>\n"
  var count = 0
  while text.utf8.count < size {
    let (type, members) = types[count % types.count]
    let common = [
      ("Type", "<string>PS\(type)Specifier</string>"), ("Title", "<string>Row \(count)</string>"),
      ("Key", "<string>row_\(count)</string>"),
    ]
    let lines = (common + members).map { "\t\t\t<key>\($0)</key>\n\t\t\t\($1)\n" }
    text += "\t\t<dict>\n\(lines.joined())\t\t</dict>\n"
    count += 1
  }
  return Array((text + "\t</array>\n</dict>\n</plist>\n").utf8)
}

private let list =
  "<array>\n\t\t\t\t<integer>1</integer>\n\t\t\t\t<integer>2</integer>\n\t\t\t</array>"
