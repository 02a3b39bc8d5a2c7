// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeStorage
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

/// What only a removed log knows of other devices.
@Suite struct RemovedLogConflictTests {
  private let folder: Folder
  private let other: Device
  private var path: String { folder.path + "/a" }

  init() throws {
    folder = try Folder()
    other = try Device.inMemory()
  }

  private func loseLog() throws {
    for suffix in ["-wal", "-shm"] { try FileManager.default.removeItem(atPath: path + suffix) }
  }

  private func set(_ device: Device, _ key: String, _ value: StoredValue) throws {
    try device.write([LocalWrite(store: "cloud", key: key, value: value)])
  }

  private func conflict(_ key: String, with device: Device) throws {
    try set(device, key, "lost")
    try set(other, key, "won")
    #expect(try device.merge(with: other).conflicts.count == 1)
  }

  @Test func aConflictIsLoggedOnceThoughItsLogWasRemoved() throws {
    do { try conflict("before", with: try Device(path: path)) }
    do {
      let device = try Device(path: path)
      try conflict("after", with: device)
      #expect(try device.resolveConflicts(store: "cloud") { _ in } == 2)
      try loseLog()
    }
    let conflicts = try Device(path: path).conflicts()
    #expect(conflicts.map(\.key) == ["before", "after"])
    #expect(conflicts.map(\.isResolved) == [true, true])
    #expect(try folder.names() == ["a"])
  }

  @Test func aWriteThatIsBroughtInLateIsNotTakenForRead() throws {
    do { try set(try Device(path: path), "first", 1) }
    do {
      let device = try Device(path: path)
      try set(device, "k", "lost")
      try loseLog()
    }
    // Another process has not brought it in yet, and writes.
    let saved = try #require(try folder.names().first { $0 != "a" })
    let aside = folder.path + "/aside"
    try FileManager.default.moveItem(atPath: folder.path + "/" + saved, toPath: aside)
    do {
      let device = try Device(path: path)
      try set(device, "j", 1)
      try device.merge(with: other)
    }
    try set(other, "k", "won")
    try FileManager.default.moveItem(atPath: aside, toPath: folder.path + "/" + saved)
    let device = try Device(path: path)
    try device.merge(with: other)
    #expect(try (device.conflicts() + other.conflicts()).map(\.key) == ["k"])
    #expect(try device.entry(store: "cloud", key: "k") == other.entry(store: "cloud", key: "k"))
  }

  @Test func whatADeviceWroteUnderANewReplicaIDIsBroughtIn() throws {
    do { try set(try Device(path: path), "first", 1) }
    do {
      let device = try Device(path: path)
      try device.takeNewID(reason: .copy)
      try set(device, "second", 1)
      try loseLog()
    }
    #expect(try Device(path: path).values(store: "cloud").count == 2)
  }
}
