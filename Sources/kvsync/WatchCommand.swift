// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeDevice

struct WatchCommand: Subcommand {
  static let configuration = WatchArguments.command

  @OptionGroup var arguments: WatchArguments
  @OptionGroup var common: CommonOptions

  var hasProgress: Bool { false }

  func run() throws {
    if arguments.hub != nil { try HubProgram.run() }
    let device = try arguments.open(.readOnly, common)
    try refuseFrozen(device)
    try arguments.watch(device, common) { _ in }
  }

  /// If neither the log nor the shared memory can be opened, others' writes are not seen.
  private func refuseFrozen(_ device: Device) throws {
    guard device.seesOthers else {
      throw KeepsakeError(
        .permissionDenied, path: arguments.file, "in a read-only folder a file cannot be watched",
        cure: "watch it as a user who may write there")
    }
  }
}
