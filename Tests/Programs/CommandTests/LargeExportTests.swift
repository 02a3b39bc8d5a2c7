// SPDX-License-Identifier: Apache-2.0
//
// Exports of more than is sorted in memory at once (8 MiB).

import Foundation
import KeepsakeDevice
import KeepsakeValues
import TestSupport
import Testing

/// Lines as `export` prints them, each without its time.
private struct Lines {
  private(set) var beginnings: [Address: String] = [:]
  private(set) var text = ""

  /// - Parameter bytes: how many at least.
  init(_ bytes: Int, _ generator: inout SeededGenerator) {
    var (size, milliseconds) = (0, Int64(Moment.ten.milliseconds))
    while size < bytes {
      let store = ["cloud", "cloud:b", "defaults"].randomElement(using: &generator) ?? ""
      let key = "\(UInt32.random(in: 0 ... .max, using: &generator))"
      let address = Address(store: store, key: key)
      guard beginnings[address] == nil else { continue }
      let beginning = #"{"store":"\#(store)","key":"\#(key)",\#(Self.value(&generator)),"at":"#
      beginnings[address] = beginning
      milliseconds += .random(in: 0...2, using: &generator)
      text += Self.line(beginning, milliseconds)
      size += beginning.utf8.count
    }
  }

  static func line(_ beginning: String, _ milliseconds: Int64) -> String {
    "\(beginning)\"\(ISO8601.text(milliseconds: milliseconds) ?? "")\"}\n"
  }

  private static func value(_ generator: inout SeededGenerator) -> String {
    let large = Int.random(in: 0...400_000, using: &generator)
    return switch Int.random(in: 0...40, using: &generator) {
    case 0...9: #""type":"integer","value":\#(Int64(bitPattern: generator.next()))"#
    case 10...19: #""type":"string","value":"é \" \\ \n \u0000 日本""#
    case 20...29: #""type":"dictionary","value":{"a":[1,2.5,"x"],"b":{}}"#
    case 30...39: #""type":"boolean","value":\#(generator.chance(50))"#
    default: #""type":"string","value":"\#(String(repeating: "ab ", count: large / 3))""#
    }
  }
}

@Suite(.serialized) struct LargeExportTests {
  private static let size = Seeds.rounds(20, debug: 9) << 20

  private func furnished(_ lines: Lines) throws -> Folder {
    let folder = try Folder()
    try folder.write(lines.text, to: "in")
    try folder.must("import", "a", "in")
    return folder
  }

  private func furnished() throws -> Folder {
    var generator = SeededGenerator(seed: 1)
    return try furnished(Lines(Self.size, &generator))
  }

  /// Runs a script in which `kvsync` is the command.
  private func sh(_ script: String, in folder: Folder, _ environment: String = "") throws -> Ending
  {
    let kvsync = "kvsync() { \(environment) \"$0\" \"$@\"; }\n"
    return try Command.run(
      Command.find("sh"), ["-c", kvsync + script, Command.kvsync.get()], in: folder.path)
  }

  @Test(arguments: Seeds.list(4, debug: 1))
  func whatWasExportedComesBackByteForByte(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let lines = Lines(Self.size, &generator)
    let folder = try furnished(lines)
    #expect(try folder.must("export", "a") == lines.text, "seed \(seed)")
    let array = "[" + lines.text.dropLast().replacingOccurrences(of: "}\n{", with: "},{") + "]\n"
    #expect(try folder.must("export", "a", "--format", "json") == array, "seed \(seed)")
  }

  @Test(arguments: Seeds.list(4, debug: 1))
  func linesOfOneTimeComeByOriginThenByStoreAndKey(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let lines = Lines(Self.size, &generator)
    let folder = try furnished(lines)
    // Times that many share, and few origins, both without regard to the order of keys.
    try folder.shell(
      "sqlite3", "a",
      "UPDATE entry SET hlc = ((hlc >> 16) - lseq % 3) << 16, origin = 1 + lseq * 7 % 5")
    var entries: [Entry] = []
    try Device(path: folder.path + "/a", access: .readOnly).forEachEntry { entries.append($0) }
    let ordered = entries.enumerated().sorted { a, b in
      (a.element.timestamp, a.element.origin, a.offset)
        < (b.element.timestamp, b.element.origin, b.offset)
    }
    let expected = try ordered.map { _, entry in
      Lines.line(try #require(lines.beginnings[entry.address]), entry.timestamp.milliseconds)
    }
    #expect(try folder.must("export", "a") == expected.joined(), "seed \(seed)")
  }

  @Test func whoReadsSlowlyGetsOneStateAndHoldsNobodyUp() throws {
    let folder = try furnished()
    let before = try folder.must("export", "a")
    let ending = try sh(
      """
      kvsync export a | { head -c 1; kvsync set a --store defaults new v; \
      kvsync compact a --quiet --busy-timeout 0s; cat; }
      """, in: folder)
    #expect(ending == Ending(stdout: before))
    #expect(try folder.must("export", "a").contains(#""key":"new""#))
  }

  @Test func whoReadsNoFurtherEndsTheExport() throws {
    let folder = try furnished()
    let ending = try sh(
      "{ kvsync export a; echo $? >code; } | head -c 1 >/dev/null; cat code", in: folder)
    #expect(ending == Ending(stdout: "\(128 + SIGPIPE)\n"))
  }

  @Test(
    .enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "there is no /dev/full"),
    arguments: [">/dev/full", ">&-"])
  func anOutputThatIsLostIsReported(_ redirection: String) throws {
    let folder = try furnished()
    let ending = try sh("kvsync export a \(redirection)", in: folder)
    #expect(ending.code == 74 && ending.stderr.contains("(standard output)"), "\(ending)")
  }

  @Test func nothingIsPrintedWhereThereIsNoRoomToSort() throws {
    let folder = try furnished()
    let ending = try sh("kvsync export a", in: folder, "TMPDIR=/nowhere")
    #expect(ending.code == 73 && ending.stdout == "", "\(ending.code)")
    #expect(ending.stderr.contains("set TMPDIR to a folder that you can write to"))
  }

  @Test(.enabled(if: Tmpfs.isPossible, SmallDisk.need))
  func nothingIsPrintedWhenTheTemporaryFolderIsFull() throws {
    let (folder, disk) = (try furnished(), try SmallDisk())
    let ending = try sh("kvsync export a", in: folder, "TMPDIR=\(disk.folder.path)")
    #expect(ending.code == 74 && ending.stdout == "", "\(ending.code)")
    #expect(ending.stderr.hasSuffix("the disk is full; free some space and try again\n"))
    #expect(try disk.folder.names() == [])
  }
}
