// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

@main
struct ProcessProbe: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "process-probe",
    abstract: "Kills processes in the middle of their work, and lets many share a file.",
    subcommands: [
      Kills.self, WorkCommand.self, ReadCommand.self, AddCommand.self, FollowCommand.self,
      ForkCommand.self,
    ])
}

/// Prints a line at once, so that it is there when the process ends before its time.
func say(_ line: String) {
  FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

/// What a round has found.
struct Complaint: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// Throws the complaint unless `condition` holds.
func demand(_ condition: Bool, _ complaint: @autoclosure () -> String) throws(Complaint) {
  if !condition { throw Complaint(complaint()) }
}
