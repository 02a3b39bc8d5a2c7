// SPDX-License-Identifier: Apache-2.0
//
// Exports of more than SQLite sorts in memory (2 MiB), and of values that it does not sort.

import Foundation
import KeepsakeDevice
import KeepsakeValues
import TestSupport
import Testing

@Suite(.serialized) struct ExportOrderTests {
  /// 6,000 entries of three stores, with values of up to 1.3 kB; SQLite sorts values of up to 1 kB.
  private let folder: Folder

  init() throws {
    folder = try Folder()
    var lines = ""
    for number in 0..<6_000 {
      let store = ["cloud", "cloud:b", "defaults"][number % 3]
      let size = number * 37 % 1_300
      lines += #"{"store":"\#(store)","key":"\#(number * 7_919 % 6_007)","type":"string","#
      lines += #""value":"é\#(String(repeating: "a", count: size))","at":\#(number / 4)}"# + "\n"
    }
    try folder.write(lines, to: "in")
    try folder.must("import", "a", "in")
  }

  /// Runs a script in which `kvsync` is the command.
  private func sh(_ script: String, _ environment: String = "") throws -> Ending {
    let kvsync = "kvsync() { \(environment) \"$0\" \"$@\"; }\n"
    return try Command.run(
      Command.find("sh"), ["-c", kvsync + script, Command.kvsync.get()], in: folder.path)
  }

  @Test func linesOfOneTimeComeByOriginThenByStoreAndKey() throws {
    // Times that many share, and few origins, both without regard to the order of keys.
    try folder.shell(
      "sqlite3", "a",
      "UPDATE entry SET timestamp = ((timestamp >> 16) / 8) << 16,"
        + " replica_id = 1 + sequence_number * 7 % 5")
    var entries: [Entry] = []
    try Device(path: folder.path + "/a", access: .readOnly).forEachEntry { entries.append($0) }
    entries.sort {
      ($0.timestamp, $0.replicaID, $0.address) < ($1.timestamp, $1.replicaID, $1.address)
    }
    let lines = try entries.map { entry in
      guard case .text(let text) = entry.content.cell else { return "no text" }
      let at = try #require(ISO8601.text(milliseconds: entry.timestamp.milliseconds))
      let (store, key) = (entry.address.store.string, entry.address.key.string)
      return #"{"store":"\#(store)","key":"\#(key)","type":"string","#
        + #""value":"\#(text)","at":"\#(at)"}"#
    }
    #expect(try folder.must("export", "a") == lines.joined(separator: "\n") + "\n")
    let array = "[" + lines.joined(separator: ",") + "]\n"
    #expect(try folder.must("export", "a", "--format", "json") == array)
  }

  @Test(.enabled(if: Tmpfs.isPossible, SmallDisk.need))
  func largeValuesAreNotSorted() throws {
    let disk = try SmallDisk()
    let lines = (0..<4).map { number in
      let value = String(repeating: "\(number)", count: 1 << 20)
      return #"{"store":"cloud","key":"\#(9 - number)","type":"string","value":"\#(value)","#
        + #""at":"1970-01-01T00:00:00.00\#(number)Z"}"# + "\n"
    }
    try folder.write(lines.joined(), to: "large")
    try folder.must("import", "b", "large")
    let ending = try sh("kvsync export b", "TMPDIR=\(disk.folder.path)")
    #expect(ending.code == 0 && ending.stdout == lines.joined(), "\(ending.code) \(ending.stderr)")
  }

  @Test func aSlowReaderGetsOneStateAndDelaysNoWriter() throws {
    let before = try folder.must("export", "a")
    let ending = try sh(
      """
      kvsync export a | { head -c 1; \
      kvsync set a --store defaults new v --busy-timeout 0s; cat; }
      """)
    #expect(ending == Ending(stdout: before))
    #expect(try folder.must("export", "a").contains(#""key":"new""#))
  }

  @Test func aReaderThatEndsEndsTheExport() throws {
    let ending = try sh("{ kvsync export a; echo $? >code; } | head -c 1 >/dev/null; cat code")
    #expect(ending == Ending(stdout: "\(128 + SIGPIPE)\n"))
  }

  @Test(.enabled(if: Tmpfs.isPossible, SmallDisk.need))
  func nothingIsPrintedWhenTheTemporaryFolderIsFull() throws {
    let disk = try SmallDisk()
    let ending = try sh("kvsync export a", "TMPDIR=\(disk.folder.path)")
    #expect(ending.code == 74 && ending.stdout == "", "\(ending.code)")
    #expect(
      ending.stderr
        == "kvsync: \(disk.folder.path): the disk is full; free some space and try again\n")
    #expect(try disk.folder.names() == [])
  }

  @Test(.enabled(if: Tmpfs.isPossible, SmallDisk.need))
  func aPipeThatTheTemporaryFolderCannotHoldIsNotImported() throws {
    let disk = try SmallDisk()
    let ending = try sh("cat in in in | kvsync import b -", "TMPDIR=\(disk.folder.path)")
    #expect(ending.code == 74 && !folder.exists("b"), "\(ending)")
    #expect(ending.stderr.hasPrefix("kvsync: \(disk.folder.path): the input cannot be copied"))
    #expect(try disk.folder.names() == [])
  }
}
