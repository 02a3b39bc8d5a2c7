// SPDX-License-Identifier: Apache-2.0
//
// What observers hear of the commits of other processes: of the command, of the shell, of another
// application.

import Foundation
import Keepsake
import SettingsFixture
import Synchronization
import TestSupport
import Testing

@Suite(.serialized) struct ForeignChangeTests {
  private let device: Device
  private let settings: EverySetting
  private let heard = Heard()

  init() throws {
    device = try Device.temporary()
    settings = try EverySetting(on: device)
  }

  @Test func aChangeByTheCommandIsAnnouncedWithItsOldValue() throws {
    settings.string = "ada"
    let me = try device.replica()
    let observation = settings.observe { heard.append($0) }
    try kvsync("set", device.path, "string", "bob", "--store", "defaults")
    #expect(heard.wait { !$0.isEmpty })
    try kvsync("delete", device.path, "string", "--store", "defaults")
    #expect(heard.wait { $0.count == 2 })
    observation.cancel()
    let changes = heard.sets.flatMap { $0 }
    #expect(changes.map(\.key) == ["string", "string"])
    #expect(changes.map(\.old) == ["ada", "bob"] && changes.map(\.new) == ["bob", nil])
    #expect(changes.allSatisfy { $0.origin == .otherProcess && $0.reason == .local })
    #expect(changes.allSatisfy { $0.writer == me && $0.process == .other })
    #expect(changes.map(\.transaction) == [2, 3])
    #expect(settings.failures.isEmpty)
  }

  @Test func aMergeByTheCommandNamesTheWriterOfEachChange() throws {
    let shared = try CloudKeyValueStore(on: device)
    let other = try Device.temporary()
    let there = try CloudKeyValueStore(on: other)
    let them = try other.replica()
    shared["kept"] = 1
    there["a"] = 1
    there["b"] = 2
    let observation = shared.observe { heard.append($0) }
    try kvsync("merge", device.path, other.path)
    #expect(heard.wait { $0.count == 2 })
    there["a"] = 3
    try kvsync("merge", device.path, other.path)
    #expect(heard.wait { $0.count == 3 })
    observation.cancel()
    let changes = heard.sets.flatMap { $0 }
    #expect(heard.sets[0].map(\.key) == ["a", "b"])
    #expect(changes.map(\.new) == [1, 2, 3] && changes.map(\.old) == [nil, nil, 1])
    #expect(changes.map(\.reason) == [.firstMerge, .firstMerge, .merge])
    #expect(changes.allSatisfy { $0.origin == .device(them) && $0.process == .other })
  }

  @Test func aCommitOfTheShellWithoutLocalSequenceNumbersIsAnnounced() throws {
    settings.string = "ada"
    settings.integer = 5
    settings.boolean = true
    let observation = settings.observe { heard.append($0) }
    try device.shell("UPDATE entry SET value = 'eve' WHERE key = 'string'")
    #expect(heard.wait { $0.count == 1 })
    try device.shell("DELETE FROM entry WHERE key = 'integer'")
    #expect(heard.wait { $0.count == 2 })
    observation.cancel()
    let changes = heard.sets.flatMap { $0 }
    #expect(changes.map(\.key) == ["string", "integer"])
    #expect(changes.map(\.old) == ["ada", 5] && changes.map(\.new) == ["eve", nil])
    #expect(changes.allSatisfy { $0.origin == .otherProcess })
  }

  @Test(arguments: [.all, "b", ["b", "c"], .prefix("b")] as [KeyFilter])
  func aDeletionThatLeavesNoTraceIsNoticed(filter: KeyFilter) throws {
    for key in ["a", "b", "c", "d"] { settings[key] = 1 }
    let observation = settings.observe(filter) { heard.append($0) }
    try device.shell(
      """
      DELETE FROM entry WHERE key = 'b';
      UPDATE replica SET sequence_number = (SELECT max(sequence_number) FROM entry) + 5;
      """)
    #expect(heard.wait { $0.count == 1 })
    observation.cancel()
    #expect(heard.sets.map { $0.map(\.key) } == [["b"]])
    #expect(heard.sets.map { $0.map(\.old) } == [[1]])
  }

  @Test func aTransactionOfAnotherProcessIsNotifiedWhole() throws {
    let observation = settings.observe(.prefix("t")) { heard.append($0) }
    try device.shell(
      """
      BEGIN;
      INSERT INTO entry SELECT 'defaults', 't' || value, 2, value, value << 40, 1, value
        FROM generate_series(1, 500);
      COMMIT;
      """)
    #expect(heard.wait { !$0.isEmpty })
    observation.cancel()
    #expect(heard.sets.map(\.count) == [500])
    #expect(heard.sets[0].map(\.new) == (1...500).map { .integer(Int64($0)) })
  }

  @Test func whatOthersWroteBeforeAWriteOfOursIsNotifiedBeforeIt() throws {
    // The thread cannot look while the connection is ours: only the write itself can find it.
    settings.integer = 1
    let observation = settings.observe { heard.append($0) }
    try device.tables.access { _ in
      try kvsync("set", device.path, "string", "theirs", "--store", "defaults")
      settings.integer = 2
    }
    #expect(heard.wait { $0.count == 2 })
    observation.cancel()
    let changes = heard.sets.flatMap { $0 }
    #expect(changes.map(\.key) == ["string", "integer"])
    #expect(changes.map(\.process) == [.other, .this])
  }

  @Test func ourOwnCommitsAreNotifiedOnceAndAsOurs() throws {
    let observation = settings.observe("integer") { heard.append($0) }
    let text = Heard()
    let other = settings.observe(.prefix("theirs")) { text.append($0) }
    let path = device.path
    let thread = Thread {
      #expect(throws: Never.self) {
        try Command.runProbe(["settings", "fill", path, "theirs", "300"])
      }
    }
    thread.start()
    for _ in 0..<1000 { settings.integer += 1 }
    #expect(text.wait { $0.count >= 300 })
    observation.cancel()
    other.cancel()
    let changes = heard.sets.flatMap { $0 }
    #expect(changes.map(\.new) == (2...1001).map { .integer($0) })
    #expect(changes.allSatisfy { $0.process == .this })
    let theirs = text.sets.flatMap { $0 }
    #expect(theirs.map(\.key) == (0..<300).map { "theirs\($0)" })
    #expect(theirs.allSatisfy { $0.process == .other })
    #expect(settings.failures.isEmpty)
  }

  /// The oracle is a reader that applies what it hears to a dictionary: at the end it must hold
  /// what the file holds, and every old value must be what it held.
  @Test func theChangesOfThreeWritersAddUpToWhatTheFileHolds() throws {
    let held = Mutex<[String: StoredValue]>([:])
    let wrong = Mutex<[SettingChange]>([])
    let observation = settings.observe(.prefix("k")) { [heard] changes in
      held.withLock { held in
        for change in changes {
          if held[change.key] != change.old { wrong.withLock { $0.append(change) } }
          held[change.key] = change.new
        }
      }
      heard.append(changes)
    }
    let group = DispatchGroup()
    let path = device.path
    for seed in ["11", "12"] {
      DispatchQueue.global().async(group: group) {
        #expect(throws: Never.self) {
          try Command.runProbe(["settings", "mix", path, seed, "400"])
        }
      }
    }
    for number in 0..<400 { settings["k\(number % 7)"] = .integer(Int64(number)) }
    group.wait()
    settings["k-last"] = true
    #expect(heard.wait { $0.contains { $0.key == "k-last" } })
    let all = settings.dictionaryRepresentation().filter { $0.key.hasPrefix("k") }
    observation.cancel()
    #expect(held.withLock { $0 } == all)
    #expect(wrong.withLock { $0 } == [])
  }

  @Test func aFileThatIsReplacedIsReported() throws {
    let failures = Collected<SettingFailure>()
    let observation = settings.observe { heard.append($0) }
    let token = settings.observeFailures { failures.append([$0]) }
    try FileManager.default.moveItem(atPath: device.path, toPath: device.path + ".away")
    #expect(failures.wait { $0.contains { $0.operation == .observe } })
    token.cancel()
    observation.cancel()
  }
}
