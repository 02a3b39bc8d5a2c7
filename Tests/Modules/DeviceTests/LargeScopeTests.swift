// SPDX-License-Identifier: Apache-2.0
//
// An observer of a large store knows the values of the moment when it was added.

import Foundation
import KeepsakeStorage
import KeepsakeValues
import TestSupport
import Testing

@testable import KeepsakeDevice

@Suite struct LargeScopeTests {
  private let folder: TemporaryFolder
  private let path: String
  private let heard = Heard()
  private let scope = Scope(store: ByteText("local"), keys: .all)

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/device.keepsake"
    let writes = (0..<1000).map { LocalWrite(store: "local", key: "key\($0)", value: 0) }
    try Device(path: path).write(writes)
  }

  private func writeElsewhere(_ statements: String) throws {
    let ending = try Command.run(Command.find("sqlite3"), [path, statements])
    try #require(ending.code == 0, "\(ending)")
  }

  private func lines(_ changes: [SettingChange]) -> [String] {
    changes.map { "\($0.key) \($0.old.shown) \($0.new.shown)" }.sorted()
  }

  @Test func itsOldValuesAreThoseOfTheSnapshotWhateverIsWrittenBeforeTheyAreRead() throws {
    let device = try Device(path: path)
    var contents = Contents()
    _ = try device.core.access { try contents.changes($0, hasCommits: true) }
    let snapshot = try #require(device.core.storage.snapshot())
    #expect(try device.core.access { try $0.isLarge(scope) })
    contents.widen(1, InitialValues(scope, snapshot))
    try writeElsewhere(
      """
      UPDATE entry SET value = 1 WHERE key = 'key1'; DELETE FROM entry WHERE key = 'key2';
      UPDATE entry SET value = 1 WHERE key = 'key3';
      """)
    // The feed would have taken those in before; what this process writes is no news.
    let own = try device.write([
      LocalWrite(store: "local", key: "key3", value: 2),
      LocalWrite(store: "local", key: "new", value: 3),
      LocalWrite(store: "local", key: "key4", value: nil),
    ])
    contents.note(own, isWhole: false)
    let found = try device.core.access { try contents.changes($0, hasCommits: true) }
    #expect(lines(found) == ["key1 0 1", "key2 0 -"])
    #expect(contents.initial.isEmpty)
    try writeElsewhere("UPDATE entry SET value = 5 WHERE key IN ('key3', 'key5', 'new')")
    let later = try device.core.access { try contents.changes($0, hasCommits: true) }
    #expect(lines(later) == ["key3 2 5", "key5 0 5", "new 3 5"])
  }

  @Test func aSecondScopeOfTheStoreIsNotReadAndStaysWhenTheFirstOneGoes() throws {
    let device = try Device(path: path)
    var contents = Contents()
    contents.widen(1, scope)
    _ = try device.core.access { try contents.changes($0, hasCommits: true) }
    contents.widen(2, Scope(store: scope.store, keys: .prefix("key7")))
    contents.widen(3, scope)
    #expect(!contents.hasUnread)
    contents.narrow(1, scope)
    try writeElsewhere("UPDATE entry SET value = 5 WHERE key = 'key8'")
    let found = try device.core.access { try contents.changes($0, hasCommits: true) }
    #expect(lines(found) == ["key8 0 5"])
  }

  @Test func aCommitOfAnotherProcessIsHeardWithItsOldValue() throws {
    let device = try Device(path: path)
    let token = device.observe { [heard] in
      heard.append($0)
    } onFailure: {
      Issue.record($0)
    }
    try writeElsewhere("UPDATE entry SET value = 1 WHERE key = 'key1'")
    #expect(heard.wait { lines($0) == ["key1 0 1"] })
    token.cancel()
  }

  @Test func anObserverThatEndsAtOnceLeavesNoConnection() throws {
    for _ in 0..<20 {
      let device = try Device(path: path)
      device.observe { _ in
      } onFailure: {
        Issue.record($0)
      }.cancel()
      try #require(FileManager.default.fileExists(atPath: path + "-wal"))
      withExtendedLifetime(device) {}
    }
    #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
  }
}

extension StoredValue? {
  fileprivate var shown: String { self.map { "\($0)" } ?? "-" }
}
