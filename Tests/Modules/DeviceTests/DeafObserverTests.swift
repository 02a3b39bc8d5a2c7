// SPDX-License-Identifier: Apache-2.0
//
// Observers are notified of commits of other processes without inotify, and without a wal-index.

import Foundation
import KeepsakeDevice
import KeepsakeValues
import Synchronization
import TestSupport
import Testing

import enum BundleSupport.Unprivileged

@Suite struct DeafObserverTests {
  private let folder: TemporaryFolder
  private let path: String
  private let heard = Heard()

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/device.keepsake"
    try Device(path: path).write([LocalWrite(store: "cloud", key: "k", value: 0)])
  }

  private func writeElsewhere(_ value: Int) throws {
    let sql = """
      UPDATE entry SET value = \(value),
        sequence_number = (SELECT max(sequence_number) + 1 FROM entry) WHERE key = 'k'
      """
    let ending = try Command.run(Command.find("sqlite3"), [path, sql])
    try #require(ending.code == 0, "\(ending)")
  }

  /// inotify(7) reports nothing of a folder that may be entered and not listed.
  @Test(.enabled(if: Unprivileged.isPossible, Unprivileged.need))
  func withoutEventsACommitIsHeardBeforeTheNextCheck() throws {
    let device = try Device(path: path)
    try #require(chmod(folder.path, 0o300) == 0)
    defer { #expect(chmod(folder.path, 0o700) == 0) }
    var token: ObservationToken?
    try Unprivileged.run(in: folder.path) {
      #expect(FileEvents(path: path).isBlind)
      token = heard.observe(device)
    }
    // A check finds commits too: at least one of these must be found between two checks.
    let checks = Atomic(0)
    let counting = device.shared.checks.add { _ in checks.add(1, ordering: .relaxed) }
    let isHeardBetween = try (1...10).contains { number in
      device.shared.waitForCheck()
      let count = checks.load(ordering: .relaxed)
      try writeElsewhere(number)
      try #require(heard.wait { $0.count == number })
      return checks.load(ordering: .relaxed) == count
    }
    counting.cancel()
    #expect(isHeardBetween)
    token?.cancel()
  }

  /// As where the address space is limited.
  @Test func withoutASecondMappingOfTheIndexCommitsAreHeardAndARemovedLogIsNoticed() throws {
    var hooks = OpeningHooks()
    hooks.mapAgain = { _ in nil }
    let device = try Device(path, hooks: hooks)
    #expect(!device.versions.seesOthers)
    let token = heard.observe(device)
    try writeElsewhere(2)
    #expect(heard.wait { $0.last?.new == 2 })
    #expect(try device.entry(store: "cloud", key: "k")?.content.value == 2)
    token.cancel()
    try FileManager.default.removeItem(atPath: path + "-wal")
    let error = #expect(throws: KeepsakeError.self) {
      try device.write([LocalWrite(store: "cloud", key: "k", value: 3)])
    }
    #expect(error?.problem.contains("was removed while it was open") == true)
  }

  /// A state that was kept would give a number that the other process has taken.
  @Test func withoutASecondMappingOfTheIndexASetFollowsThoseOfOtherProcesses() throws {
    var hooks = OpeningHooks()
    hooks.mapAgain = { _ in nil }
    let device = try Device(path, hooks: hooks)
    let first = try device.replicaState().sequenceNumber
    for value in Int64(1)...3 {
      try device.write([LocalWrite(store: "cloud", key: "own", value: .integer(value))])
      try writeElsewhere(Int(value))
    }
    #expect(try device.replicaState().sequenceNumber == first + 6)
    #expect(try device.entry(store: "cloud", key: "own")?.content.value == 3)
  }

  /// The folder of the device, as `seen` in another one.
  private func readOnlyMount() throws -> Folder {
    let seen = try Folder()
    try seen.makeFolder("seen")
    try seen.shell("mount", "--bind", folder.path, "seen")
    try seen.shell("mount", "-o", "remount,ro,bind", "seen")
    return seen
  }

  @Test(.enabled(if: Tmpfs.isPossible, "only root can mount"), arguments: [false, true])
  func aReaderOfAFileWithoutALogReportsThatItHearsNothing(isInTransaction: Bool) throws {
    let seen = try readOnlyMount()
    defer { #expect(throws: Never.self) { try seen.shell("umount", "--lazy", "seen") } }
    let device = try Device(path: seen.path + "/seen/device.keepsake", access: .readOnly)
    try #require(!device.seesOthers)
    let failures = Collected<KeepsakeError>()
    func observe() -> ObservationToken {
      device.observe { _ in
      } onFailure: {
        failures.append([$0])
      }
    }
    let token =
      !isInTransaction
      ? observe()
      : try device.transaction {
        defer { #expect(failures.sets.isEmpty) }
        return observe()
      }
    #expect(failures.sets.flatMap { $0.map(\.code) } == [.permissionDenied])
    token.cancel()
  }

  /// Through a read-only mount SQLite opens the memory that it shares with writers for reading, and
  /// only while a writer has it open. Otherwise it reads the log by itself.
  @Test(.enabled(if: Tmpfs.isPossible, "only root can mount"), arguments: [true, false])
  func aReaderThatMayWriteNothingHearsOfCommits(hasWriter: Bool) throws {
    let seen = try readOnlyMount()
    defer { #expect(throws: Never.self) { try seen.shell("umount", "--lazy", "seen") } }
    let begin = "UPDATE entry SET value = 1"
    let writer = hasWriter ? try Locker(URL(fileURLWithPath: path), [begin]) : nil
    if !hasWriter { try seen.crash(path, begin) }
    do {
      let device = try Device(path: seen.path + "/seen/device.keepsake", access: .readOnly)
      #expect(device.versions.seesOthers == hasWriter)
      let token = heard.observe(device)
      for value in 2...4 {
        try writeElsewhere(value)
        #expect(heard.wait { $0.last?.new == .integer(Int64(value)) })
      }
      token.cancel()
    }
    #expect(heard.sets.flatMap { $0.map(\.old) } == [1, 2, 3])
    try writer?.release()
  }
}
