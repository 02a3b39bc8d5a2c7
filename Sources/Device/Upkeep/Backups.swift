// SPDX-License-Identifier: Apache-2.0

public import Foundation
import KeepsakeValues

extension Device {
  /// Copies the device to a new file, while it is in use.
  ///
  /// The copy has the device's replica ID and is meant to take its place. If both go on, the next
  /// sync notices and gives one of them a new replica ID. `clone(to:)` makes a second device.
  ///
  /// - Throws: `KeepsakeError`, also when this device is damaged; then nothing was made. O(n log n)
  ///   of the entries: every page is checked.
  public func backup(to url: URL) throws(KeepsakeError) {
    try copy(to: url.path) { _ in }
  }

  /// The daily backups of a device's file, the newest first.
  ///
  /// - Throws: `KeepsakeError` when the folder cannot be read.
  public static func backups(of url: URL) throws(KeepsakeError) -> [Backup] {
    let file = URL(fileURLWithPath: Location.real(url.path))
    let folder = file.deletingLastPathComponent()
    let prefix = file.lastPathComponent + backupInfix
    do {
      return try FileManager.default.contentsOfDirectory(atPath: folder.path)
        .filter { $0.hasPrefix(prefix) }
        .map {
          Backup(url: folder.appendingPathComponent($0), day: String($0.dropFirst(prefix.count)))
        }
        .filter { $0.day.wholeMatch(of: /\d{4}-\d\d-\d\d/) != nil }
        .sorted { $0.day > $1.day }
    } catch {
      throw KeepsakeError(
        .permissionDenied, path: folder.path, "the folder cannot be searched",
        cure: "check its permissions", cause: error)
    }
  }

  /// Makes today's backup in the background unless it is there. A program that ends meanwhile waits
  /// for it, so that short ones have backups too.
  ///
  /// - Parameter report: gets a failure.
  package func backUpDaily(_ report: @escaping @Sendable (KeepsakeError) -> Void) {
    guard backups == .daily, !isReadOnly, file != nil else { return }
    Background.run { [self] in
      do throws(KeepsakeError) {
        try backUpToday()
      } catch {
        report(error)
      }
    }
  }

  /// Makes today's backup, by the device's clock, unless it is there; keeps the last two.
  ///
  /// A damaged device is not copied, so that sound backups stay. Backups of days to come, made when
  /// the clock was ahead, are left alone.
  ///
  /// - Throws: `KeepsakeError`; then there is no backup of today.
  package func backUpToday() throws(KeepsakeError) {
    guard let today = ISO8601.text(milliseconds: clock.milliseconds)?.prefix(10) else {
      throw KeepsakeError(
        .inputOutput, path: path, "the clock is outside of the years 1 to 9999", cure: "set it")
    }
    let realPath = core.storage.location.realPath
    let url = URL(fileURLWithPath: realPath)
    let backup = URL(fileURLWithPath: realPath + Self.backupInfix + today)
    guard try FileStatus(of: backup.path) == nil else { return }
    // By a connection of its own, so that no store waits.
    let reader = try Device(path: realPath, access: .readOnly, clock: clock)
    do {
      try reader.backup(to: backup)
    } catch {
      // Another process may have been faster.
      guard error.code == .cannotCreate, try FileStatus(of: backup.path) != nil else { throw error }
    }
    for old in try Self.backups(of: url).filter({ $0.day <= today }).dropFirst(2) {
      // A backup is read through its log, which its last reader takes away.
      for suffix in ["", "-wal", "-shm"] { unlink(old.url.path + suffix) }
    }
  }

  private static let backupInfix = ".backup-"
}

/// When an application's device is copied for bad days.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum BackupPolicy: Sendable {
  /// Once a day, when a store is opened on it; the last two are kept, beside the file.
  case daily
  case never
}

extension Device {
  /// A copy of a device as it was on one day.
  public struct Backup: Sendable, Hashable {
    /// The copy: a file that `restore` and every command take.
    public let url: URL
    /// In UTC, as "2026-11-21".
    public let day: String
  }
}

/// Work that the end of the program waits for, where it ends by itself: `exit`, or the end of main.
package enum Background {
  private static let group = DispatchGroup()
  /// Longer than the backup of any device takes that is opened daily; one that ends the program
  /// from within such work waits so long in vain.
  private static let exitTimeout = DispatchTimeInterval.seconds(10)
  private static let waitsAtExit: Void = { atexit { Background.wait() } }()

  static func run(_ body: @escaping @Sendable () -> Void) {
    _ = waitsAtExit
    DispatchQueue.global(qos: .utility).async(group: group, execute: body)
  }

  package static func wait() {
    _ = group.wait(timeout: .now() + exitTimeout)
  }
}
