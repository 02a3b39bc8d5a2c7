// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

@main
struct FaultProbe: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fault-probe",
    abstract: "Attacks devices through a file system that fails, loses power and reorders.",
    subcommands: [Fail.self, Power.self, Schedule.self])
}

/// Prints a line at once, so that it is there when the process ends before its time.
func say(_ line: String) {
  FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
