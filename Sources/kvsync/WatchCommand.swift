// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeDevice

struct WatchCommand: Subcommand {
  static let configuration = WatchArguments.command

  @OptionGroup var words: WatchArguments
  @OptionGroup var common: CommonOptions

  var hasProgress: Bool { false }

  func run() throws {
    if words.hub != nil { try SiblingProgram.hub.run() }
    let device = try words.open(.readOnly, common)
    try refuseFrozen(device)
    try words.watch(device, common) { _ in }
  }

  /// Where neither the log nor the shared memory can be opened, nothing that others write is seen.
  private func refuseFrozen(_ device: Device) throws {
    guard device.seesOthers else {
      throw KeepsakeError(
        .permissionDenied, path: words.file, "in a read-only folder a file cannot be watched",
        cure: "watch it as a user who may write there")
    }
  }
}
