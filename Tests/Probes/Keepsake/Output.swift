// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Prints a line at once, so that it is there if the process ends early.
func say(_ line: String) {
  FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

/// Prints a line of progress or of a failure to stderr, after the name of the subcommand.
func report(_ command: String, _ line: String) {
  FileHandle.standardError.write(Data("\(command): \(line)\n".utf8))
}
