// SPDX-License-Identifier: Apache-2.0
//
// Values are kept in memory, and yet every read is of the newest commit, whoever made it.

import Foundation
import Keepsake
import TestSupport
import Testing

private final class Shared: UserDefaultsStore, @unchecked Sendable {
  @Setting var count = 0
  @Setting var name = "nobody"
}

@Suite struct CoherenceTests {
  private let folder: URL
  private let device: Device
  private let store: Shared

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    device = try Device(at: folder.appendingPathComponent("device.keepsake"))
    store = try Shared(on: device)
  }

  private func clean() { Result { try FileManager.default.removeItem(at: folder) }.ignore() }

  private func shell(_ sql: String) throws {
    // A checkpoint in the background has the write lock for a moment.
    let ending = try Command.run(
      Command.find("sqlite3"), ["-cmd", ".timeout 60000", device.path, sql])
    #expect(ending.code == 0, "\(ending)")
  }

  @Test func aCommitOfTheShellIsSeenByTheNextRead() throws {
    defer { clean() }
    store.count = 1
    for number in 2..<8 {
      #expect(store.count == number - 1 && store.integer(forKey: "count") == number - 1)
      try shell("UPDATE entry SET value = \(number) WHERE key = 'count'")
      #expect(store.count == number)
      #expect(store["count"] == .integer(Int64(number)))
    }
    try shell("DELETE FROM entry")
    #expect(store.count == 0 && store["count"] == 0)
  }

  @Test func aCommitOfTheCommandIsSeenByTheNextRead() throws {
    defer { clean() }
    #expect(store.name == "nobody")
    let words = ["set", device.path, "name", "ada", "--store", "defaults"]
    #expect(try Command.run(Command.kvsync.get(), words).code == 0)
    #expect(store.name == "ada")
  }

  @Test func aCheckpointAndACrashedWriterChangeNoValue() throws {
    defer { clean() }
    store.name = "kept"
    #expect(store.name == "kept")
    try shell("PRAGMA wal_checkpoint(TRUNCATE)")
    #expect(store.name == "kept")
    let script = """
      import sqlite3, os, sys
      connection = sqlite3.connect(sys.argv[1], isolation_level=None)
      connection.execute("BEGIN IMMEDIATE")
      connection.execute("UPDATE entry SET value = 'lost'")
      os.kill(os.getpid(), 9)
      """
    let ending = try Command.run(Command.find("python3"), ["-c", script, device.path])
    #expect(ending.code == 137)
    #expect(store.name == "kept" && store["name"] == "kept")
  }

  @Test func anotherConnectionOfThisProcessIsSeen() throws {
    defer { clean() }
    let reader = try Shared(on: Device(path: device.path, access: .readOnly))
    let other = try Shared(on: Device(path: device.path))
    for number in 1..<20 {
      other.count = number
      #expect(store.count == number)
      store.count = -number
      #expect(reader.count == -number && reader.double(forKey: "count") == Double(-number))
    }
  }

  @Test func whatIsNotCommittedIsSeenByItsThreadAlone() async throws {
    defer { clean() }
    store.count = 1
    #expect(store.count == 1)
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try store.$name.update { name in
        store.count = 2
        #expect(store.count == 2, "a write sees itself")
        #expect(store["count"] == 2)
        name = "lost"
        throw Stop()
      }
    }
    #expect(store.count == 1 && store["count"] == 1 && store.name == "nobody")
  }

  @Test func registeredDefaultsAreSeenAtOnce() throws {
    defer { clean() }
    #expect(store.name == "nobody" && store["name"] == "nobody")
    store.register(defaults: ["name": "registered"])
    #expect(store.name == "registered" && store["name"] == "registered")
  }

  @Test func aDeviceInMemoryIsCoherentToo() throws {
    defer { clean() }
    let device = try Device.inMemory()
    let (one, two) = (try Shared(on: device), try Shared(on: device))
    for number in 1..<10 {
      one.count = number
      #expect(two.count == number && two.integer(forKey: "count") == number)
      try two.$count.update { $0 += 100 }
      #expect(one.count == number + 100)
    }
  }

  @Test func aMergeIsSeenByTheNextRead() throws {
    defer { clean() }
    let (a, b) = (try Device.inMemory(), device)
    let (one, two) = (try CloudKeyValueStore(on: a), try CloudKeyValueStore(on: b))
    for number in 1..<6 {
      one["k"] = .integer(Int64(number))
      #expect(two["k"] == (number == 1 ? nil : .integer(Int64(number - 1))))
      try a.merge(with: b)
      #expect(two["k"] == .integer(Int64(number)))
    }
  }

  @Test func readersOnManyThreadsNeverSeeAValueGoBack() async throws {
    defer { clean() }
    let store = store
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<3 {
        group.addTask {
          var last = 0
          for _ in 0..<20_000 {
            let now = store.count
            guard now >= last else { return false }
            last = now
          }
          return true
        }
      }
      group.addTask {
        for number in 1...300 { store.count = number }
        return true
      }
      for await isMonotonic in group { #expect(isMonotonic) }
    }
    #expect(store.count == 300)
  }
}

extension Result {
  /// What is left of a test's folder is the system's to clean.
  fileprivate func ignore() {}
}
