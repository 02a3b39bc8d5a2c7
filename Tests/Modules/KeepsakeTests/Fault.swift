// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import TestSupport

/// What can go wrong with a device's file while a store is open on it.
enum Fault: String, CaseIterable {
  case fullDisk, locked, readOnly, damagedPage, movedAway, deleted, replaced, newerSchema

  /// Those that any user can cause.
  static let usual = allCases.filter { $0 != .fullDisk }

  var code: KeepsakeError.Code {
    switch self {
    case .fullDisk: .diskFull
    case .locked: .locked
    case .readOnly: .readOnly
    case .damagedPage: .corrupt
    case .movedAway, .deleted, .replaced: .inputOutput
    case .newerSchema: .newerSchema
    }
  }

  /// What is wrong, and what to do.
  var complaint: String {
    switch self {
    case .fullDisk: "the disk is full; free some space and try again"
    case .locked:
      "another program keeps the file locked; "
        + "try again, or wait longer with a larger busy timeout"
    case .readOnly: "the device was opened read-only; open it for writing"
    case .damagedPage:
      "the file is damaged (database disk image is malformed); restore a backup of it"
    case .movedAway, .deleted, .replaced:
      "the file was deleted or replaced while it was open; put it back, or open the device anew"
    case .newerSchema:
      "it needs schema version 99, this program knows version 1; update this program"
    }
  }
}

/// A file with many entries, and what can be done to it by other processes.
final class FaultyFile {
  /// A part of the value of `text`, which is on a page that has nothing of `sound`.
  static let value = "needle"

  let path: String
  private let folder: Folder
  private let disk: Tmpfs?
  private var locker: Locker?
  private let busyTimeout: Duration

  /// - Parameter store: the name of the one that has the entries.
  init(
    store: String = "defaults", isOnSmallDisk: Bool = false,
    busyTimeout: Duration = .milliseconds(50)
  ) throws {
    folder = try Folder()
    self.busyTimeout = busyTimeout
    disk = isOnSmallDisk ? try Tmpfs(on: folder.path, pages: 512) : nil
    path = folder.path + "/device.keepsake"
    let device = try Device(path: path)
    try device.write([LocalWrite(store: store, key: "sound", value: "whole")])
    try device.write(
      (0..<200).map { LocalWrite(store: store, key: "spacer \($0)", value: .integer($0)) })
    try device.write([LocalWrite(store: store, key: "text", value: .string(Self.value))])
    // No write goes on without the newest entry: that one is elsewhere too.
    try device.write([LocalWrite(store: store, key: "spacer 0", value: 1000)])
  }

  deinit {
    guard let disk else { return }
    do {
      try disk.unmount()
    } catch {
      print("\(folder.path) is still mounted: \(error)")
    }
  }

  func open(_ access: Device.Access = .existing) throws -> Device {
    try Device(path: path, access: access, busyTimeout: busyTimeout)
  }

  // MARK: - Faults

  func cause(_ fault: Fault) throws {
    switch fault {
    case .fullDisk: try disk?.fill(leaving: 0)
    case .locked: locker = try Locker(URL(fileURLWithPath: path), ["BEGIN IMMEDIATE"])
    case .readOnly: break
    case .damagedPage: try damage()
    case .movedAway: try move(path, to: aside)
    case .deleted:
      try FileManager.default.linkItem(atPath: path, toPath: aside)
      try FileManager.default.removeItem(atPath: path)
    case .replaced:
      let other = folder.path + "/other.keepsake"
      _ = try Device(path: other)
      try move(path, to: aside)
      try move(other, to: path)
    case .newerSchema: try shell("UPDATE replica SET min_writer = 99")
    }
  }

  func mend(_ fault: Fault) throws {
    switch fault {
    case .fullDisk: try disk?.empty()
    case .locked: try locker?.release()
    case .readOnly: break
    case .damagedPage: try folder.shell("python3", "-c", Self.restoring, path, aside)
    case .movedAway, .deleted: try move(aside, to: path)
    case .replaced:
      try FileManager.default.removeItem(atPath: path)
      try move(aside, to: path)
    case .newerSchema: try shell("UPDATE replica SET min_writer = 1")
    }
  }

  /// Writes over the page that has the value of a key.
  func damage(value: String = value) throws {
    try folder.shell("python3", "-c", Self.damaging, path, aside, value)
  }

  /// What another process reads.
  func value(_ key: String) throws -> String {
    try shell("SELECT value FROM entry WHERE key = '\(key)'")
  }

  @discardableResult
  func shell(_ sql: String) throws -> String { try folder.shell("sqlite3", path, sql) }

  /// What is left in the log goes to the file first, and a commit follows, so that nobody goes on
  /// with the pages that he has in memory.
  private static let damaging = """
    import sqlite3, sys
    path, aside, value = sys.argv[1:]
    connection = sqlite3.connect(path, isolation_level=None)
    [size] = connection.execute("PRAGMA page_size").fetchone()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    with open(path, "r+b") as file:
      start = file.read().index(value.encode()) // size * size
      file.seek(start)
      page = file.read(size)
      file.seek(start)
      file.write(b"\\xff" * size)
    with open(aside, "wb") as file: file.write(start.to_bytes(8, "big") + page)
    connection.execute("PRAGMA user_version = 1")
    """

  private static let restoring = """
    import sqlite3, sys
    path, aside = sys.argv[1:]
    with open(aside, "rb") as file: start, page = int.from_bytes(file.read(8), "big"), file.read()
    with open(path, "r+b") as file:
      file.seek(start)
      file.write(page)
    sqlite3.connect(path, isolation_level=None).execute("PRAGMA user_version = 2")
    """

  private var aside: String { folder.path + "/aside" }

  private func move(_ path: String, to other: String) throws {
    try FileManager.default.moveItem(atPath: path, toPath: other)
  }
}
