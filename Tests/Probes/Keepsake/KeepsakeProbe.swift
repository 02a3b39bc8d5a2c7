// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

@main
struct KeepsakeProbe: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keepsake-probe",
    abstract: "Attacks devices, and fuzzes what reads files.",
    discussion: "The tests run it, and so do Scripts/soak and Scripts/fuzz.",
    subcommands: [
      FailCommand.self, PowerCommand.self, ScheduleCommand.self, KillsCommand.self,
      FuzzCommand.self,
      // The tests and the other subcommands run these.
      WorkCommand.self, AddCommand.self, FollowCommand.self,
      CheckpointCommand.self, SettingsCommand.self,
    ])
}
