// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import TestSupport
import Testing

/// The lines of `doctor` about SQLite, which are the same for all devices.
enum Doctor {
  /// On stderr: stdout has one line for each finding.
  static let talk =
    "kvsync: SQLite \(SQLiteVersion.text)"
    + (SQLiteVersion.hasResetBug
      ? " has the WAL-reset bug: Keepsake works around it, other programs may not" : "")
    + "\n"

  static let json =
    #"{"version":"\#(SQLiteVersion.text)","walResetBug":\#(SQLiteVersion.hasResetBug)}"#
}

extension Folder {
  /// Runs `doctor` without `--json` and `--quiet`, and compares all it says.
  func expectDoctor(
    _ arguments: String..., prints stdout: String, code: Int32 = 0,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try expectDoctor(arguments, prints: stdout, code: code, sourceLocation: sourceLocation)
  }

  func expectDoctor(
    _ arguments: [String], prints stdout: String, code: Int32 = 0,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let ending = try run(["doctor"] + arguments)
    #expect(
      ending == Ending(stdout: stdout, stderr: Doctor.talk, code: code), "\(arguments)",
      sourceLocation: sourceLocation)
  }
}
