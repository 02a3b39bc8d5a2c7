// SPDX-License-Identifier: Apache-2.0
//
// A damaged file is put aside, never deleted, and what takes its place is for the application to
// decide: no store is empty in silence.
//
// The order: the successor is made complete under a draft's name; the damaged file and its log get
// a second name each; then the successor takes the first one as a restored backup does. So a crash
// leaves the damaged file or its successor. `<file>.recovery` is locked meanwhile, so that of two
// recoveries one finds the successor.

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
  /// The damaged file is kept beside it, as `<file>.corrupt-<time>`, with its log. That takes hard
  /// links: on a file system without them this throws, and leaves everything as it was.
  ///
  /// - Parameter decide: asks the application what to do; runs while no other process can recover
  ///   the file.
  /// - Returns: where the damaged file is now; nil when the file is sound, or not there.
  /// - Throws: what `decide` throws, the damage if it gives up, or what stops the recovery, as that
  ///   a program has the file open; then the file is where it was. A folder that cannot be synced
  ///   is reported though the successor is in place: a power failure may undo it.
  public static func recover(
    at url: URL, clock: WallClock = .system, _ decide: (Damage) throws -> Recovery
  ) throws -> URL? {
    let path = Location.real(url.path)
    try refuseFile(path)
    // As at an application's first start. Where it cannot be seen, opening it says why.
    guard FileStatus.exists(path) else { return nil }
    guard let lock = try LockedFile(path + ".recovery", waiting: .seconds(3600)) else {
      throw KeepsakeError(
        .locked, path: path, "another program recovers it", cure: "try again when that is done")
    }
    defer { lock.remove() }
    guard let error = try damage(path, clock) else { return nil }
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
    try Predecessor(path: path, real: path, clock: clock).giveWay(to: draft, keptAs: aside)
    return URL(fileURLWithPath: aside)
  }

  /// Returns the damage; nil for a sound file. Throws other errors.
  private static func damage(
    _ path: String, _ clock: WallClock
  ) throws(KeepsakeError) -> KeepsakeError? {
    do throws(KeepsakeError) {
      let device = try Device(path: path, access: .existing, clock: clock)
      try device.checkIntegrity()
      return nil
    } catch {
      guard error.code == .corrupt || error.code == .notKeepsake else { throw error }
      return error
    }
  }

  private static func freeName(
    beside path: String, _ clock: WallClock
  ) throws(KeepsakeError) -> String {
    let time = ISO8601.text(milliseconds: clock.milliseconds)?.prefix(19) ?? "unknown"
    let name = path + ".corrupt-" + time.replacing(":", with: "")
    var (aside, number) = (name, 1)
    while try FileStatus(of: aside) != nil {
      number += 1
      aside = name + "-\(number)"
    }
    return aside
  }
}
