// SPDX-License-Identifier: Apache-2.0
//
// One page of a file written over, each page in turn. SQLite has no checksums, so damage within a
// value can pass for a value; all that `PRAGMA integrity_check` finds has to stop a merge.

import Foundation
import TestSupport
import Testing

/// What a page is written over with.
enum PageDamage: CaseIterable {
  case ones, zeros, noise, aFewBytes, anotherPage

  func apply(to page: Int, of whole: Data, using generator: inout SeededGenerator) -> Data {
    let size = DamagedFile.pageSize
    let place = page * size..<(page + 1) * size
    var bytes = whole
    switch self {
    case .ones: bytes.replaceSubrange(place, with: Data(repeating: 0xFF, count: size))
    case .zeros: bytes.replaceSubrange(place, with: Data(count: size))
    case .noise:
      bytes.replaceSubrange(
        place, with: (0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) })
    case .aFewBytes:
      for _ in 0..<8 {
        bytes[Int.random(in: place, using: &generator)] = .random(in: 0...255, using: &generator)
      }
    case .anotherPage:
      let other = Int.random(in: 0..<whole.count / size, using: &generator) * size
      bytes.replaceSubrange(place, with: whole[other..<other + size])
    }
    return bytes
  }
}

/// A folder with `good`, and with a device file `bad` that has something in every table and is
/// damaged anew for each command.
final class DamagedFile {
  static let pageSize = 1024

  let folder: Folder
  let whole: Data
  private let good: Data

  var pageCount: Int { whole.count / Self.pageSize }

  init() throws {
    folder = try Folder.furnished()
    let lines = (0..<60).map {
      let value = String(repeating: "x", count: $0 == 30 ? 2500 : $0 % 40)
      return #"{"key":"key\#($0)","type":"string","value":"\#(value)"}"#
    }
    try folder.write(lines.joined(separator: "\n"), to: "many")
    try folder.must("import", "bad", "many", Moment.ten.argument)
    try folder.must("delete", "bad", "key7", Moment.ten.argument)
    try folder.must("set", "bad", "k", "bad", Moment.ten.argument)
    try folder.must("seed", "bad", "table.plist")
    try folder.must("merge", "bad", "good", Moment.ten.argument)
    try folder.must("set", "good", "k", "newer", Moment.eleven.argument)
    try folder.addPeerAndConflict(to: "bad")
    try folder.shell(
      "sqlite3", "bad",
      "PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO held VALUES ('cloud','h',1,'x',1<<62,5,0)")
    whole = try Data(contentsOf: folder.url("bad"))
    good = try Data(contentsOf: folder.url("good"))
    #expect(whole.count % Self.pageSize == 0)
  }

  /// Whether SQLite's own shell finds a file in order.
  func isInOrder(_ file: String) throws -> Bool {
    let shell = try Command.find("sqlite3")
    let ending = try Command.run(shell, [file, "PRAGMA integrity_check"], in: folder.path)
    return ending.code == 0 && ending.stdout == "ok\n"
  }

  /// Runs a command on `bytes`, and expects an answer or a refusal, and no harm to other files.
  func expectNoHarm(_ command: FileCommand, _ bytes: Data, _ what: String) throws {
    try folder.shell("sh", "-c", "rm -f bad* good-* cloned*")
    try bytes.write(to: folder.url("bad"))
    try good.write(to: folder.url("good"))
    let ending = try folder.run(
      command.arguments("bad") + ["--busy-timeout", "50ms", Moment.twelve.argument])
    let story = "\(what) \(command) \(ending)"
    let lines = ending.stderr.split(separator: "\n", omittingEmptySubsequences: false)
    switch ending.code {
    case 0, 1:
      #expect(ending.code == 0 || command.mayAnswerNo, "\(story)")
    case 64, 65:
      // What is named by its number may be gone with the page.
      #expect(ending.code == 65 || [.restore, .retire].contains(command), "\(story)")
      #expect(ending.stdout == "" && lines.count == 2 && lines[1] == "", "\(story)")
      #expect(lines[0].hasPrefix("kvsync: bad: ") && lines[0].contains("; "), "\(story)")
      #expect(!folder.exists("cloned"), "\(story)")
      #expect(try Data(contentsOf: folder.url("bad")) == bytes, "\(story)")
    default: Issue.record("\(story)")
    }
    if ending.code == 0, command.merges || command == .clone {
      #expect(try isInOrder("bad"), "\(story)")
      #expect(try isInOrder(command == .clone ? "cloned" : "good"), "\(story)")
    } else {
      #expect(try Data(contentsOf: folder.url("good")) == good, "\(story)")
    }
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.contains(".new-") }
    #expect(left == [], "\(story)")
  }
}

extension FileCommand {
  /// Those that end with 1 when the answer is "no".
  var mayAnswerNo: Bool { [.get, .doctor, .repair, .diffFirst, .diffLast].contains(self) }
  fileprivate var merges: Bool { Self.merges.contains(self) && self != .mergeDryRun }
}

@Suite struct DamagedPageTests {
  /// Each page in turn is damaged in every way, and each time another command meets it.
  @Test(arguments: Seeds.list(1))
  func noCommandCrashesOrSpreadsDamageWhicheverPageHasIt(_ seed: UInt64) throws {
    let file = try DamagedFile()
    var generator = SeededGenerator(seed: seed)
    // It would go on until interrupted where the damage is out of its way.
    let commands = FileCommand.allCases.filter { $0 != .watch }
    var next = 0
    for page in 0..<file.pageCount {
      for damage in PageDamage.allCases {
        let bytes = damage.apply(to: page, of: file.whole, using: &generator)
        let command = commands[next % commands.count]
        next += 1
        try file.expectNoHarm(command, bytes, "seed \(seed) page \(page + 1) \(damage)")
      }
    }
  }

  @Test(arguments: [PageDamage.ones, .zeros])
  func noMergeOrCloneTakesWhatIsDamagedForWhole(_ damage: PageDamage) throws {
    let file = try DamagedFile()
    let commands: [FileCommand] = FileCommand.merges + [.clone]
    var generator = SeededGenerator(seed: 0)
    for page in 0..<file.pageCount {
      let bytes = damage.apply(to: page, of: file.whole, using: &generator)
      let command = commands[page % commands.count]
      try file.expectNoHarm(command, bytes, "page \(page + 1) \(damage)")
    }
  }

  /// SQLite's VACUUM would write what it can still read over what it cannot.
  @Test(arguments: [PageDamage.ones, .noise, .anotherPage])
  func compactLeavesADamagedFileAsItWas(_ damage: PageDamage) throws {
    let file = try DamagedFile()
    var generator = SeededGenerator(seed: 3)
    for page in 0..<file.pageCount {
      let bytes = damage.apply(to: page, of: file.whole, using: &generator)
      try file.expectNoHarm(.compact, bytes, "page \(page + 1) \(damage)")
    }
  }

  @Test func rowsOutOfOrderAreNotMerged() throws {
    let file = try DamagedFile()
    var generator = SeededGenerator(seed: 7)
    // Every page is well formed for itself: only the order of the rows tells.
    for page in 0..<file.pageCount {
      let bytes = PageDamage.anotherPage.apply(to: page, of: file.whole, using: &generator)
      try file.expectNoHarm(.mergeFirst, bytes, "page \(page + 1)")
    }
  }

  @Test func aDiffNamesTheFileThatIsDamaged() throws {
    let file = try DamagedFile()
    var generator = SeededGenerator(seed: 0)
    var refusals = 0
    for page in stride(from: 3, to: file.pageCount, by: 5) {
      let bytes = PageDamage.ones.apply(to: page, of: file.whole, using: &generator)
      try file.expectNoHarm(.diffFirst, bytes, "page \(page + 1)")
      try file.expectNoHarm(.diffLast, bytes, "page \(page + 1)")
      if try file.folder.run(["diff", "bad", "good"]).code == 65 { refusals += 1 }
    }
    #expect(refusals > 0)
  }
}
