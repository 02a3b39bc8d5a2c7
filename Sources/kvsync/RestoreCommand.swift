// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues

struct RestoreCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Replaces a device by a backup.",
    discussion: """
      The file may be damaged or missing; what was written since the backup is gone from it: \
      clone or copy it first if you may want that. Its log goes too, which cp would leave to \
      destroy the backup. No program may have the file open. The device gets a new replica ID. \
      Newer writes of other devices win at the next sync. With --as-new the values of the backup \
      are written as of today instead, and keys that it does not have are deleted: they win.

        kvsync restore notes.keepsake.backup-2026-11-21 notes.keepsake
        kvsync restore notes.keepsake.backup-2026-11-21 notes.keepsake --as-new
      """)

  @Argument(help: "The backup: a device file.", completion: .file()) var backup: String
  @Argument(help: "The device file.", completion: .file()) var file: String
  @Flag(help: "Write the backup's values as writes of today, so that they win at the next sync.")
  var asNew = false
  @OptionGroup var common: CommonOptions

  func run() throws {
    try DistinctFiles.check([backup, file])
    if asNew { return try writeAsNew() }
    let id = ReplicaID.random()
    try Device.restore(
      at: file, from: backup, busyTimeout: common.busyTimeout, clock: common.clock, identity: id)
    common.output.print(
      .object(["path": .string(file), "replica": .string(id.description)]),
      lines: [
        """
        \(file.quotedIfNeeded) is as \(backup.quotedIfNeeded), device \(id); \
        newer writes of other devices win at the next sync
        """
      ], isData: false)
  }

  private func writeAsNew() throws {
    let device = try common.open(file, .existing)
    let count = try device.writeAsNew(common.open(backup, .readOnly))
    try common.output.print(
      .object([
        "path": .string(file), "replica": .string(try device.replica().description),
        "changed": .integer(Int64(count)),
      ]),
      lines: [
        """
        \(file.quotedIfNeeded) has the values of \(backup.quotedIfNeeded), as of today; \
        \(counted(count, "value")) changed
        """
      ], isData: false)
  }
}
