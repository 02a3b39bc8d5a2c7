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
  private let device: Device
  private let store: Shared

  init() throws {
    device = try .temporary()
    store = try Shared(on: device)
  }

  @Test func aCommitOfTheShellIsSeenByTheNextRead() throws {
    store.count = 1
    for number in 2..<8 {
      #expect(store.count == number - 1 && store.integer(forKey: "count") == number - 1)
      try device.shell("UPDATE entry SET value = \(number) WHERE key = 'count'")
      #expect(store.count == number)
      #expect(store["count"] == .integer(Int64(number)))
    }
    try device.shell("DELETE FROM entry")
    #expect(store.count == 0 && store["count"] == 0)
  }

  @Test func aCheckpointAndACrashedWriterChangeNoValue() throws {
    store.name = "kept"
    #expect(store.name == "kept")
    try device.shell("PRAGMA wal_checkpoint(TRUNCATE)")
    #expect(store.name == "kept")
    try Folder().crash(device.path, "BEGIN IMMEDIATE", "UPDATE entry SET value = 'lost'")
    #expect(store.name == "kept" && store["name"] == "kept")
  }

  @Test func anotherConnectionOfThisProcessIsSeen() throws {
    let reader = try Shared(on: Device(path: device.path, access: .readOnly))
    let other = try Shared(on: Device(path: device.path))
    for number in 1..<20 {
      other.count = number
      #expect(store.count == number)
      store.count = -number
      #expect(reader.count == -number && reader.double(forKey: "count") == Double(-number))
    }
  }

  @Test func aMergeIsSeenByTheNextRead() throws {
    let (a, b) = (try Device.inMemory(), device)
    let (one, two) = (try CloudKeyValueStore(on: a), try CloudKeyValueStore(on: b))
    for number in 1..<6 {
      one["k"] = .integer(Int64(number))
      #expect(two["k"] == (number == 1 ? nil : .integer(Int64(number - 1))))
      try a.merge(with: b)
      #expect(two["k"] == .integer(Int64(number)) && two.longLong(forKey: "k") == Int64(number))
    }
  }
}
