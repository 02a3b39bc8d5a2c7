// SPDX-License-Identifier: Apache-2.0
//
// SQLite loses commits when a checkpoint overlaps one that starts the log anew
// (https://www.sqlite.org/wal.html#walresetbug). `keepsake-probe checkpoint` runs on a layer that
// sees each page that is written into a file, and which locks are held then.

import CSQLite
import Foundation
import KeepsakeDevice
import KeepsakeValues
import TestSupport
import Testing

@Suite struct CheckpointTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path + "/device" }

  init() throws { folder = try TemporaryFolder() }

  private func probe(_ words: String...) throws -> String {
    let ending = try Command.runProbe(["checkpoint", path] + words)
    #expect(ending.code == 0 && ending.stderr == "", "\(ending)")
    return ending.stdout
  }

  private func counts(_ output: String) throws -> (checkpoints: Int, unlocked: Int) {
    let match = try #require(output.firstMatch(of: /checkpoints (\d+), unlocked writes (\d+)/))
    return (try #require(Int(match.1)), try #require(Int(match.2)))
  }

  @Test func noPageIsWrittenIntoAFileThatOthersCouldWriteTo() throws {
    _ = try Device(path: path)
    let other = try RunningCommand(
      Folder(), ["checkpoint", path, "sets", "3000"], program: Command.probe.get())
    let (checkpoints, unlocked) = try counts(try probe("watch", "2000"))
    // Signal 0 is none.
    #expect(other.end(0).code == 0)
    #expect(checkpoints > 5)
    #expect(unlocked == 0)
  }

  @Test func theWatchSeesACheckpointOfSQLites() throws {
    let (checkpoints, unlocked) = try counts(try probe("watch-sqlite", "1000"))
    #expect(checkpoints > 0 && unlocked > 0)
  }

  @Test func noCommitComesInTheMiddleOfACheckpoint() throws {
    #expect(try probe("overtake", "500").hasPrefix("another commit meanwhile: \(SQLITE_BUSY)\n"))
  }

  @Test(arguments: [
    (3_006_023, false), (3_007_000, true), (3_040_001, true), (3_044_005, true),
    (3_044_006, false), (3_045_000, true), (3_050_006, true), (3_050_007, false),
    (3_051_000, true), (3_051_002, true), (3_051_003, false), (3_052_000, false),
  ])
  func theVersionsThatHaveTheBugAreKnown(number: Int32, hasBug: Bool) {
    #expect(SQLiteVersion.hasResetBug(number) == hasBug)
  }

  @Test func theLogStaysShort() throws {
    let device = try Device(path: path)
    let log = URL(fileURLWithPath: path + "-wal")
    for number in Int64(0)..<4000 { try device.set("k", .integer(number)) }
    let size = try #require(try log.resourceValues(forKeys: [.fileSizeKey]).fileSize)
    // Of 4,000 sets it would have 8 MiB and more.
    #expect(size < 6 << 20)
  }

  @Test(.enabled(if: Tmpfs.isPossible, "\(Tmpfs.need)"))
  func aLogThatCannotBeMovedFailsNoWriteAndIsReportedOnce() throws {
    let disk = try Tmpfs(on: folder.path, pages: 2048)
    let reports = Collected<KeepsakeError>()
    do {
      let device = try Device(path: path)
      // A handler may write, which may move the log.
      let token = device.shared.upkeep.add { [weak storage = device.storageForTests] in
        reports.append([$0])
        storage?.checkpoints?.run()
      }
      defer { token.cancel() }
      // The log gets its length; what is written to it from here on needs no room of its own.
      for number in Int64(0)..<300 { try device.set("k", .integer(number)) }
      #expect(try Checkpoint.run(device.storageForTests.location, waiting: .seconds(5)))
      try disk.fill(leaving: 0)
      for number in Int64(0)..<150 { try device.set("key \(number)", .integer(number)) }
      expectError(.diskFull) {
        try Checkpoint.run(device.storageForTests.location, waiting: .seconds(5))
      }
      for _ in 0..<2 { device.storageForTests.checkpoints?.run() }
      #expect(reports.sets.map { $0.map(\.code) } == [[.diskFull]])
      #expect(try device.entry(store: "cloud", key: "key 149")?.content.value == 149)
      try disk.empty()
      device.storageForTests.checkpoints?.run()
      #expect(try Checkpoint.run(device.storageForTests.location, waiting: .seconds(5)))
    }
    try disk.unmount()
  }
}
