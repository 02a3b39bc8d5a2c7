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
  func print(
    _ json: @autoclosure () throws -> JSON, lines: @autoclosure () throws -> [String], isData: Bool
  ) rethrows {
    if isJSON {
      Self.standardOutput(try json().text() + "\n")
    } else if isData || !isQuiet {
      let text = try lines().map { $0 + "\n" }.joined()
      if !text.isEmpty { Self.standardOutput(text) }
    }
  }

  /// Says something beside the data.
  func say(_ line: String) {
    if !isQuiet { Self.standardError("kvsync: \(line.onOneLine)\n") }
  }

  /// Prints data. A full disk behind `> file` must not pass for success.
  static func standardOutput(_ text: String) {
    do {
      try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    } catch {
      standardError("kvsync: (standard output): cannot be written; check where it leads\n")
      exit(EX_IOERR)
    }
  }

  static func standardError(_ text: String) {
    do {
      try FileHandle.standardError.write(contentsOf: Data(text.utf8))
    } catch {
      exit(EX_IOERR)  // There is nobody left to tell.
    }
  }
}

extension String {
  /// This text with its control characters escaped: a path may contain a line break, a message not.
  var onOneLine: String {
    unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7f ? $0.escaped(asASCII: true) : "\($0)" }
      .joined()
  }
}
