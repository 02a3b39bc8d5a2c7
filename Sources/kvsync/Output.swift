// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeValues

/// Where things are printed: data to stdout, talk to stderr.
struct Output {
  let isJSON: Bool
  let isQuiet: Bool

  /// Prints the one JSON value of a command under `--json`, else the lines for people.
  ///
  /// - Parameter isData: whether the lines are what was asked for; `--quiet` silences the others.
  func print(_ json: @autoclosure () -> JSON, lines: @autoclosure () -> [String], isData: Bool) {
    if isJSON {
      Self.standardOutput(json().text() + "\n")
    } else if isData || !isQuiet {
      let text = lines().map { $0 + "\n" }.joined()
      if !text.isEmpty { Self.standardOutput(text) }
    }
  }

  /// Says something beside the data.
  func say(_ line: String) {
    if !isQuiet { Self.standardError("kvsync: \(line)\n") }
  }

  static func standardOutput(_ text: String) { write(text, to: .standardOutput) }
  static func standardError(_ text: String) { write(text, to: .standardError) }

  private static func write(_ text: String, to file: FileHandle) {
    do {
      try file.write(contentsOf: Data(text.utf8))
    } catch {
      // A full disk behind `> file` must not pass for success, and there is nobody left to tell.
      exit(EX_IOERR)
    }
  }
}
