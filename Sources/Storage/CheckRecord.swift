// SPDX-License-Identifier: Apache-2.0
//
// That every page of a file was checked, remembered in an extended attribute of the file: what the
// file was like then, in which run of the system, and when. A check is remembered for a day.
//
// Why a file that the record fits is the one that was checked, but for commits of SQLite:
// - Whatever writes a file gives it another time of modification. Of a device's file that is
//   SQLite alone, when it moves the log into it: by a checkpoint of ours (`Checkpoint`), or when
//   the last connection closes (`Storage`). Both carry the record on, if it fitted before.
// - So a file that a program has written besides, that was put in the place of another, or that
//   another SQLite has moved its log into, fits no record, and is checked.
// - A crash in the middle of a checkpoint leaves the earlier record, which does not fit what was
//   moved until then. No record fits after the system was started anew, whatever the disk kept.
// - A copy is another inode. A record that was forged, as on somebody's disk, would have to name
//   the random number of this run of this system. What it could spare that disk's file is a check
//   of its pages, not the look at each of its rows, and no file meets another unchecked.
// - A log that is not empty, as that of a running application, may have been damaged too: nothing
//   is spared then.
// What it does not see: a disk that returns other bytes than were written; a program that writes
// into the file in the moment in which a checkpoint runs, or, on a system whose clock of files is
// coarse, within its tick after one. That is why it lasts a day, and why a merge looks at the rows
// it reads and replaces (`RowCheck`).
//
// Where a file system has no extended attributes, each check is made.

import CKeepsake
import Foundation
import KeepsakeValues

package struct CheckRecord: Equatable {
  private static let name = "user.keepsake.checked"
  /// Milliseconds.
  private static let age: Int64 = 86_400_000

  /// What the file was like.
  private let file: String
  /// In milliseconds since 1970.
  private let time: Int64

  /// What would be remembered if a check began now; nil where nothing can be.
  ///
  /// - Parameter now: milliseconds since 1970.
  package init?(of location: Location, at now: Int64) throws(KeepsakeError) {
    guard let file = try Self.description(of: location) else { return nil }
    (self.file, time) = (file, now)
  }

  private init(_ file: String, _ time: Int64) { (self.file, self.time) = (file, time) }

  private static func description(of location: Location) throws(KeepsakeError) -> String? {
    guard let run, case .file(_, let real) = location, let status = try FileStatus(of: real)
    else { return nil }
    let id = status.id
    return "1 \(run) \(id.device) \(id.inode) \(status.size) \(status.modification)"
  }

  /// A random number of this run of the system.
  private static let run: String? = {
    #if canImport(Darwin)
      var (bytes, count) = ([UInt8](repeating: 0, count: 64), 64)
      guard sysctlbyname("kern.bootsessionuuid", &bytes, &count, nil, 0) == 0 else { return nil }
      return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    #else
      let number = FileManager.default.contents(atPath: "/proc/sys/kernel/random/boot_id")
      let text = number.map { String(decoding: $0.filter { $0 > 0x20 }, as: UTF8.self) }
      // What hides the number from a container may leave an empty file, which is so in every run.
      return text?.isEmpty == false ? text : nil
    #endif
  }()

  /// The record that a file has, if it fits the file.
  private static func fitting(_ location: Location) throws(KeepsakeError) -> CheckRecord? {
    guard case .file(_, let real) = location else { return nil }
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = keepsake_get_attribute(real, name, &bytes, bytes.count)
    guard count > 0 else { return nil }
    let text = String(decoding: bytes.prefix(count), as: UTF8.self)
    guard let end = text.lastIndex(of: " "), let time = Int64(text[text.index(after: end)...]),
      let file = try description(of: location), file == text[..<end]
    else { return nil }
    return CheckRecord(file, time)
  }

  /// Whether every page was checked within a day, and nothing but SQLite's commits has come since.
  ///
  /// - Parameter now: milliseconds since 1970.
  package static func holds(for location: Location, at now: Int64) throws(KeepsakeError) -> Bool {
    guard case .file(_, let real) = location, try FileStatus(of: real + "-wal")?.size ?? 0 == 0,
      let record = try fitting(location)
    else { return false }
    return record.time <= now && record.time > now - age
  }

  /// Forgets it: the file at a path is known to be damaged.
  package static func forget(_ path: String) {
    var byte: UInt8 = 0
    // A file that has no record stays as it is.
    guard keepsake_get_attribute(path, name, &byte, 0) > 0 else { return }
    _ = keepsake_set_attribute(path, name, &byte, 0)
  }

  /// Remembers it. A file system that does not take it costs the next merge the time of a check.
  package func save(for location: Location) {
    guard case .file(_, let real) = location else { return }
    let bytes = Array("\(file) \(time)".utf8)
    _ = keepsake_set_attribute(real, Self.name, bytes, bytes.count)
  }

  /// Runs `body`, in which SQLite may move the log into the file.
  ///
  /// - Throws: what `body` throws; then a record does not fit any more.
  static func carried<Value>(
    over location: Location, _ body: () throws -> Value
  ) throws -> Value {
    let before = try fitting(location)
    let value = try body()
    if let before, let after = try CheckRecord(of: location, at: before.time), after != before {
      after.save(for: location)
    }
    return value
  }
}
