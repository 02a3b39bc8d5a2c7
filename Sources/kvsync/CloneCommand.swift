// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues

struct CloneCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "clone",
    abstract: "Copies a device to a new file that is a device of its own.",
    discussion: """
      A copy made by cp has the replica ID of the original until a sync finds that out. A clone \
      has its own from the start. The file may be in use meanwhile.

        kvsync clone laptop.keepsake desktop.keepsake
      """)

  @Argument(help: "The device file.", completion: .file()) var file: String
  @Argument(help: "The file to create.", completion: .file()) var new: String
  @OptionGroup var common: CommonOptions

  func run() throws {
    try DistinctFiles.check([file, new])
    let id = ReplicaID.random()
    try common.open(file, .readOnly).clone(to: new, identity: id)
    common.output.print(
      .object(["path": .string(new), "replica": .string(id.description)]),
      lines: ["\(new.quotedIfNeeded) is device \(id)"], isData: false)
  }
}
