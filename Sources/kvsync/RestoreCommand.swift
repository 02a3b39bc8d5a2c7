// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues

struct RestoreCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Puts a backup in a device's place.",
    discussion: """
      The file may be damaged or missing; what was written since the backup is gone from it: \
      clone or copy it first if you may want that. Its log goes too, which cp would leave to \
      destroy the backup. No program may have the file open. The next merge with a device that \
      knows more of this one than the backup gives this one a new identity.

        kvsync restore notes.keepsake.backup-2026-11-21 notes.keepsake
      """)

  @Argument(help: "The backup: a device file.", completion: .file()) var backup: String
  @Argument(help: "The device file.", completion: .file()) var file: String
  @OptionGroup var common: CommonOptions

  func run() throws {
    try DistinctFiles.check([backup, file])
    // Before anything is done: a later failure would be reported of a restore that has succeeded.
    let id = try common.open(backup, .readOnly).replica()
    try Device.restore(
      at: file, from: backup, busyTimeout: common.busyTimeout, clock: common.clock)
    common.output.print(
      .object(["path": .string(file), "replica": .string(id.description)]),
      lines: ["\(Shown.name(file)) is as \(Shown.name(backup)), device \(id)"], isData: false)
  }
}
