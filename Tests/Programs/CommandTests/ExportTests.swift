// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeValues
import TestSupport
import Testing

@Suite struct ExportTests {
  private func furnished() throws -> Folder {
    let folder = try Folder()
    try folder.must(
      "set", "a", "day", "2026-11-20T10:00:00.123Z", "--type", "date", "--store", "defaults",
      Moment.ten.argument)
    try folder.must("set", "a", "theme", "dark", Moment.eleven.argument)
    try folder.must("delete", "a", "gone", Moment.twelve.argument)
    return folder
  }

  private let day =
    #"{"store":"defaults","key":"day","type":"date","value":"2026-11-20T10:00:00.123Z","#
    + #""seconds":816861600.123,"at":"\#(Moment.ten.shown)"}"#
  private let theme =
    #"{"store":"cloud","key":"theme","type":"string","value":"dark","#
    + #""at":"\#(Moment.eleven.shown)"}"#
  private let gone =
    #"{"store":"cloud","key":"gone","deleted":true,"at":"\#(Moment.twelve.shown)"}"#

  @Test func exportPrintsAnObjectALineTheOldestWriteFirst() throws {
    let folder = try furnished()
    try folder.expect("export", "a", prints: "\(day)\n\(theme)\n")
    try folder.expect("export", "a", "--deleted", prints: "\(day)\n\(theme)\n\(gone)\n")
    try folder.expect("export", "a", "--store", "cloud", prints: "\(theme)\n")
    try folder.expect("export", "a", "--store", "none")
  }

  @Test(arguments: [["--format", "json"], ["--json"], ["--format", "jsonl", "--json"]])
  func exportPrintsOneArrayWhenAskedForJSON(_ options: [String]) throws {
    let folder = try furnished()
    let ending = try folder.run(["export", "a"] + options)
    #expect(ending == Ending(stdout: "[\(day),\(theme)]\n"))
  }

  @Test func secondsThatAreNotTheTimeOfTheValueAreRefused() throws {
    let folder = try furnished()
    try folder.write(day.replacingOccurrences(of: "816861600.123", with: "816861600.2"), to: "in")
    try folder.expect(
      "import", "b", "in",
      says: "kvsync: in:1: \"seconds\" is not the time of \"value\"; "
        + "change both, or leave \"seconds\" out\n", code: 65)
    #expect(!folder.exists("b"))
  }

  @Test func aMemberThatIsThereTwiceIsRefused() throws {
    let folder = try furnished()
    try folder.write(#"{"key":"k","type":"integer","value":1,"key":"l"}"#, to: "in")
    let ending = try folder.run(["import", "b", "in"])
    #expect(ending.code == 65 && ending.stderr.hasPrefix("kvsync: in:1"), "\(ending)")
    #expect(!folder.exists("b"))
  }

  @Test func anElementThatIsNoLineIsNamedByItsPlace() throws {
    let folder = try furnished()
    try folder.write("[\(theme),{\"key\":\"\"}]", to: "in")
    try folder.expect(
      "import", "b", "in",
      says: "kvsync: in:1: element 2: there is no key; add \"key\" with a text that is not empty\n",
      code: 65)
    #expect(!folder.exists("b"))
  }

  // MARK: - There and back

  private func entries(_ path: String) throws -> [Entry] {
    var entries: [Entry] = []
    try Device(path: path, access: .readOnly).forEachEntry { entries.append($0) }
    return entries.sorted { ($0.timestamp, $0.origin) < ($1.timestamp, $1.origin) }
  }

  @Test(arguments: Seeds.list(8), ["jsonl", "json"])
  func whatIsImportedAgainHasTheSameValuesInTheSameOrderOfTime(
    seed: UInt64, format: String
  ) throws {
    let folder = try Folder()
    var generator = SeededGenerator(seed: seed)
    do {
      let clock = ManualClock()
      let device = try Device(path: folder.path + "/a", clock: clock.wallClock)
      for _ in 0..<60 {
        clock.milliseconds += .random(in: -3...5, using: &generator)
        let store = ["cloud", "cloud:é", "defaults"].randomElement(using: &generator) ?? "cloud"
        let key = "k\(Int.random(in: 0..<25, using: &generator))\u{0}\n"
        let value = generator.chance(20) ? nil : generator.value(depth: 3)
        try device.write([LocalWrite(store: store, key: key, value: value)])
      }
    }
    try folder.write(
      try folder.must("export", "a", "--deleted", "--format", format), to: "exported")
    try folder.must("import", "b", "exported")
    let (before, after) = (try entries(folder.path + "/a"), try entries(folder.path + "/b"))
    #expect(before.map(\.address) == after.map(\.address), "seed \(seed)")
    #expect(before.map(\.content) == after.map(\.content), "seed \(seed)")
    try folder.expect("diff", "a", "b")
    // A second time nothing is another value.
    #expect(try folder.must("import", "b", "exported").hasSuffix(" 0 changed\n"))
  }

  @Test func aValueThatThisVersionCannotReadIsExportedAsItIs() throws {
    let folder = try Folder()
    let odd: [(tag: Int, value: String)] = [
      (99, "'text'"), (99, "x'00ff'"), (99, "12"), (99, "0.5"), (99, "NULL"), (99, "9e999"),
      (2, "'not an integer'"), (7, "'[1,'"),
    ]
    for (place, item) in odd.enumerated() {
      try folder.must("set", "a", "k\(place)", "v", Moment(hour: place).argument)
      try folder.shell(
        "sqlite3", "a",
        "UPDATE entry SET tag = \(item.tag), value = \(item.value) WHERE key = 'k\(place)'")
    }
    let exported = try folder.must("export", "a")
    #expect(exported.contains(#""type":"opaque","tag":99,"value":{"$data":"AP8="}"#))
    try folder.write(exported, to: "exported")
    try folder.must("import", "b", "exported")
    let columns = "SELECT key, tag, typeof(value), quote(value) FROM entry ORDER BY key"
    #expect(try folder.shell("sqlite3", "a", columns) == folder.shell("sqlite3", "b", columns))
  }
}

extension SeededGenerator {
  /// Any value that a store can hold.
  fileprivate mutating func value(depth: Int) -> StoredValue {
    switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &self) {
    case 0: .string(text())
    case 1: .integer(Int64(bitPattern: next()) >> Int64.random(in: 0..<64, using: &self))
    case 2: .real(real())
    case 3: .boolean(chance(50))
    case 4: .date(Date(timeIntervalSinceReferenceDate: real()))
    case 5: .data(Data((0..<Int.random(in: 0...9, using: &self)).map { UInt8($0 * 37 % 256) }))
    case 6: .array((0..<Int.random(in: 0...3, using: &self)).map { _ in value(depth: depth - 1) })
    default:
      .dictionary(
        Dictionary(
          (0..<Int.random(in: 0...3, using: &self)).map { _ in (text(), value(depth: depth - 1)) },
          uniquingKeysWith: { $1 }))
    }
  }

  private mutating func text() -> String {
    ["", "a", "é", "e\u{301}", "$date", "$x", "\u{0}", "\t\n\"\\", "日本", "\u{7f}"]
      .randomElement(using: &self) ?? ""
  }

  private mutating func real() -> Double {
    [0, -0.0, 0.1, 1e300, .nan, .infinity, -.infinity, 816_861_600.123_456, -63e9]
      .randomElement(using: &self) ?? 0
  }
}
