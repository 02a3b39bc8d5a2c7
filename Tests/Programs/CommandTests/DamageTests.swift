// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite struct DamageTests {
  private let folder: Folder
  init() throws { folder = try Folder.furnished() }

  /// Truncates a file, or overwrites a part of it, while no program has it open.
  private func damage(_ file: URL, _ body: (inout Data) -> Void) throws {
    var bytes = try Data(contentsOf: file)
    body(&bytes)
    try bytes.write(to: file)
  }

  private func pageSize(_ folder: Folder, _ file: String) throws -> Int {
    let text = try folder.shell("sqlite3", file, "PRAGMA page_size")
    return try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
  }

  /// A device with so many entries that a page in the middle of the file is full of them.
  private func large(_ folder: Folder, _ file: String) throws {
    let lines = (0..<400).map { #"{"key":"key\#($0)","type":"string","value":"value \#($0)"}"# }
    try folder.write(lines.joined(separator: "\n"), to: "many")
    try folder.must("import", file, "many", Moment.ten.argument)
  }

  private func damageMiddle(_ folder: Folder, _ file: String) throws {
    let page = try pageSize(folder, file)
    try damage(folder.url(file)) { bytes in
      let start = bytes.count / page * 3 / 4 * page
      bytes.replaceSubrange(start..<start + page, with: Data(repeating: 0xFF, count: page))
    }
  }

  @Test func aPageOfGarbageIsRefusedByAFirstMerge() throws {
    try large(folder, "bad")
    try damageMiddle(folder, "bad")
    try folder.expectDamage(of: "bad", by: FileCommand.merges)
  }

  @Test(
    arguments: Seeds.some(
      of: [FileCommand.list, .export, .clone, .compact, .doctor] + FileCommand.merges, debug: 3))
  func aDamagedFileKeepsItsLog(_ command: FileCommand) throws {
    try large(folder, "bad")
    try folder.crash("bad", "UPDATE entry SET value = 'late' WHERE key = 'key1'")
    try damageMiddle(folder, "bad")
    let before = try folder.digests("bad", "bad-wal")
    let ending = try folder.run(command.arguments("bad"))
    #expect([65, command == .doctor ? 1 : 65].contains(ending.code), "\(ending)")
    #expect(try folder.digests("bad", "bad-wal") == before, "\(ending)")
    #expect(!folder.exists("good-wal"))
  }

  @Test func oneBadFileOfThreeStopsTheMergeOfAll() throws {
    try large(folder, "bad")
    try damageMiddle(folder, "bad")
    try folder.must("set", "other", "k", "other", Moment.eleven.argument)
    let before = try folder.everything()
    for files in [["good", "other", "bad"], ["bad", "good", "other"]] {
      for options in [[], ["--one-way"], ["--dry-run"]] {
        let ending = try folder.run(["merge"] + files + options)
        #expect(ending.code == 65 && ending.stdout == "", "\(files) \(options) \(ending)")
        #expect(ending.stderr.hasPrefix("kvsync: bad: "), "\(files) \(options) \(ending)")
      }
    }
    #expect(try folder.everything() == before)
  }
}
