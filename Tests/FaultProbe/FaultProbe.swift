// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

@main
struct FaultProbe: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fault-probe",
    abstract: "Attacks devices through a file system that fails, loses power and reorders.",
    subcommands: [])
}
