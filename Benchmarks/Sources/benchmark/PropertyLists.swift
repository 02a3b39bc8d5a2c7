// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeSettingsBundle

func propertyLists(_ report: Report) {
  let bytes = settingsFile(Scale.isQuick ? 1_000_000 : 10_000_000)
  var limits = PropertyListLimits()
  (limits.bytes, limits.elements, limits.textBytes) = (.max, .max, .max)
  let race = Race(seconds: 10)
  race.enter("ours") { [limits] in
    try nanoseconds { _ in
      // The full tree, whose nodes and lines have their places.
      let list = try PropertyList.parse(bytes, file: "benchmark.plist", limits: limits)
      blackHole(list)
      blackHole(list.sourceMap())
    }
  }
  let data = Data(bytes)
  race.enter("Foundation's PropertyListSerialization") {
    try nanoseconds { _ in
      blackHole(try PropertyListSerialization.propertyList(from: data, format: nil))
    }
  }
  race.enter("a look at each byte") {
    nanoseconds { _ in blackHole(bytes.reduce(into: UInt8(0)) { $0 ^= $1 }) }
  }
  race.row(
    "parse \(bytes.count / 1_000_000) MB of XML", "ours",
    beside: ["Foundation's PropertyListSerialization", "a look at each byte"])
  report.run(race)
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
