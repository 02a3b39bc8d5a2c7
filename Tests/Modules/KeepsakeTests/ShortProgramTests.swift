// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import TestSupport
import Testing

/// Programs that end before anything could be done in the background, such as a job run by cron.
@Suite struct ShortProgramTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func run(_ environment: [String] = []) throws -> Ending {
    let words = [try Command.probe.get(), "settings", "short", folder.path]
    return try Command.run(Command.find("env"), environment + words)
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path + "/short").sorted()
  }

  /// The backups; nil when there is anything else beside the device.
  private func backups() throws -> [String]? {
    // A program that ends with its device open leaves the log.
    let device = ["device.keepsake", "device.keepsake-shm", "device.keepsake-wal"]
    let names = try names().filter { !device.contains($0) }
    let isBackup = /device\.keepsake\.backup-\d{4}-\d\d-\d\d/
    return names.allSatisfy { $0.wholeMatch(of: isBackup) != nil } ? names : nil
  }

  @Test func theyHaveTheirBackupAndLeaveNothingElse() throws {
    for _ in 0..<10 { #expect(try run() == Ending()) }
    #expect(try backups()?.isEmpty == false)
  }

  @Test(.enabled(if: KillPoint.isPossible, KillPoint.need))
  func oneThatIsKilledLeavesNothingThatTheNextDoesNotRemove() throws {
    let points = try KillPoint.points { environment in
      let ending = try run(environment)
      #expect(ending == Ending())
    }
    var kills = 0
    let some = Seeds.some(of: points, debug: 3)
    for point in some {
      try FileManager.default.removeItem(atPath: folder.path + "/short")
      // The backup goes on beside the program, so the last calls are not always as many.
      if try run(KillPoint.environment(at: point)) != Ending() { kills += 1 }
      #expect(try run() == Ending())
      let (left, count) = (try names(), try backups()?.count ?? 0)
      #expect(count >= 1, "call \(point): \(left)")
    }
    #expect(kills > some.count / 2)
  }
}
