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

  // MARK: - There and back

  private func entries(_ path: String) throws -> [Entry] {
    var entries: [Entry] = []
    try Device(path: path, access: .readOnly).forEachEntry { entries.append($0) }
    return entries.sorted { ($0.timestamp, $0.replicaID) < ($1.timestamp, $1.replicaID) }
  }

  @Test(arguments: Seeds.list(8), ["jsonl", "json"])
  func whatIsImportedAgainHasTheSameValuesInTheSameOrderOfTime(
    seed: UInt64, format: String
  ) throws {
    let folder = try Folder()
    var generator = SeededGenerator(seed: seed)
    var values = ValueGenerator(random: SeededGenerator(seed: seed))
    do {
      let clock = ManualClock()
      let device = try Device(path: folder.path + "/a", clock: clock.wallClock)
      for _ in 0..<60 {
        clock.milliseconds += .random(in: -3...5, using: &generator)
        let store = ["cloud", "cloud:é", "defaults"].randomElement(using: &generator) ?? "cloud"
        let key = "k\(Int.random(in: 0..<25, using: &generator))\u{0}\n"
        let value = generator.chance(20) ? nil : values.value()
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
        "UPDATE entry SET type = \(item.tag), value = \(item.value) WHERE key = 'k\(place)'")
    }
    let exported = try folder.must("export", "a")
    #expect(exported.contains(#""type":"opaque","tag":99,"value":{"$data":"AP8="}"#))
    try folder.write(exported, to: "exported")
    try folder.must("import", "b", "exported")
    let columns = "SELECT key, type, typeof(value), quote(value) FROM entry ORDER BY key"
    #expect(try folder.shell("sqlite3", "a", columns) == folder.shell("sqlite3", "b", columns))
  }
}
