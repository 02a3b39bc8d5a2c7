// SPDX-License-Identifier: Apache-2.0
//
// A damaged file is put aside, never deleted, and what takes its place is for the application to
// decide: no store is empty in silence. While this goes on, `<file>.recovery` is there, locked; a
// crash leaves it behind, and the file cannot be opened until a recovery has ended.
//
// The files that were saved of removed logs (`LostLog`) go with the damaged file.
//
// The order: the successor is made complete under a draft's name; the mark names where the file
// goes; the file goes aside, then its log, which would else be taken for the successor's; the
// successor gets its name; the mark goes. Where the log cannot go, or the name not be given, both
// go back. After a crash the next recovery first puts back what the mark names, and begins anew: so
// a file and its log stay together.

public import Foundation
public import KeepsakeValues

extension Device {
  /// A device's file that cannot be read.
  public struct Damage: Sendable {
    /// What is damaged.
    public let error: KeepsakeError
    /// What it can be restored from, the newest first.
    public let backups: [Backup]
  }

  /// What becomes of a damaged device.
  public enum Recovery: Sendable {
    /// A copy of this backup takes its place. What was written since is in the damaged file, and on
    /// the devices that have read it.
    case restore(Backup)
    /// An empty device takes its place.
    case startEmpty
    /// Everything stays as it is, and the damage is thrown.
    case giveUp
  }

  /// Replaces a device's file if it is damaged: every page is checked.
  ///
  /// The damaged file is kept beside it, as `<file>.corrupt-<time>`, with its log. Others who have
  /// it open cannot write to it any more.
  ///
  /// - Parameter decide: asks the application what to do; runs while no other process can open or
  ///   recover the file.
  /// - Returns: where the damaged file is now; nil when the file is sound, or not there.
  /// - Throws: what `decide` throws, the damage if it gives up, or what stops the recovery; then
  ///   the file is where it was, unless it cannot be put back: the next recovery does that first.
  ///   A folder that cannot be synced is reported though the successor is in place: a power failure
  ///   may undo it.
  public static func recover(
    at url: URL, clock: WallClock = .system, _ decide: (Damage) throws -> Recovery
  ) throws -> URL? {
    let path = Location.real(url.path)
    try refuseFile(path)
    // As at an application's first start. Where it cannot be seen, opening it says why.
    let isThere = FileStatus.exists(path) || FileStatus.exists(path + RecoveryMark.suffix)
    guard isThere else { return nil }
    let mark = try RecoveryMark(of: path)
    defer { mark.release() }
    if let aside = mark.interrupted { try putBack(path, aside) }
    guard let error = try damage(path, clock, wasMoved: mark.wasThere) else { return nil }
    let recovery = try decide(Damage(error: error, backups: try backups(of: url)))
    let draft = try Draft(of: path)
    switch recovery {
    case .giveUp: throw error
    case .startEmpty: try draft.populate(.random())
    case .restore(let backup):
      try Device(path: backup.url.path, access: .readOnly, clock: clock).copy(into: draft) {
        copy throws(KeepsakeError) in
        try copy.takeNewID(reason: .recovery)
      }
    }
    let aside = try freeName(beside: path, clock)
    try mark.note(aside)
    // Shared memory serves the file's former name, which leads to the successor from now on.
    defer { if FileStatus.exists(path) { unlink(aside + "-shm") } }
    do throws(KeepsakeError) {
      try putAside(path, aside)
      guard try draft.publish() else {
        throw KeepsakeError(
          .cannotCreate, path: path, "another program has made this file meanwhile",
          cure: "look at it; the damaged one is \(aside)")
      }
    } catch {
      // Where that fails, too, the mark stays, and the next recovery does it.
      Result { () throws(KeepsakeError) in try putBack(path, aside) }.discardFailure()
      throw error
    }
    return URL(fileURLWithPath: aside)
  }

  /// Nil for a sound file. What is no damage is thrown.
  private static func damage(
    _ path: String, _ clock: WallClock, wasMoved: Bool
  ) throws(KeepsakeError) -> KeepsakeError? {
    do throws(KeepsakeError) {
      let device = try Device(
        path: path, access: .existing, busyTimeout: defaultBusyTimeout, clock: clock, folder: nil,
        identity: ReplicaID(rawValue: 0))
      try device.checkIntegrity()
      return nil
    } catch {
      switch error.code {
      case .corrupt, .notKeepsake: return error
      case .missing where wasMoved: return error
      default: throw error
      }
    }
  }

  private static func freeName(
    beside path: String, _ clock: WallClock
  ) throws(KeepsakeError) -> String {
    let time = ISO8601.text(milliseconds: clock.milliseconds)?.prefix(19) ?? "unknown"
    let name = path + RecoveryMark.asideInfix + time.replacing(":", with: "")
    var (aside, number) = (name, 1)
    while try FileStatus(of: aside) != nil {
      number += 1
      aside = name + "-\(number)"
    }
    return aside
  }

  private static func putAside(_ path: String, _ aside: String) throws(KeepsakeError) {
    // The shared memory is moved, too: who has the file open shares it with those who open the file
    // again if it is put back, and only so they see each other's locks.
    for suffix in ["", "-wal", "-shm"] where rename(path + suffix, aside + suffix) != 0 {
      let code = errno
      // After a crash the file itself may be aside already.
      if code != ENOENT { throw KeepsakeError(system: code, path: path + suffix) }
    }
    try LostLog.moveAll(from: path, to: aside)
  }

  /// Nothing where the file's place is taken: by its successor, or by another program's file.
  private static func putBack(_ path: String, _ aside: String) throws(KeepsakeError) {
    guard !FileStatus.exists(path) else { return }
    try LostLog.moveAll(from: aside, to: path)
    // The file comes last: it must not be there without its log.
    for suffix in ["-shm", "-wal", ""] where FileStatus.exists(aside + suffix) {
      guard rename(aside + suffix, path + suffix) == 0 else {
        throw KeepsakeError(system: errno, path: aside + suffix)
      }
    }
  }
}
