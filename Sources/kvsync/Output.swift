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
    _ json: @autoclosure () throws -> JSON, lines: @autoclosure () throws -> [Line], isData: Bool
  ) rethrows {
    if isJSON {
      Self.standardOutput([Line(try json())])
    } else if isData || !isQuiet {
      Self.standardOutput(try lines(), forTerminals: isatty(STDOUT_FILENO) != 0)
    }
  }

  /// Says something beside the data.
  func say(_ line: String) {
    if !isQuiet { Self.standardError("kvsync: \(line.onOneLine)\n") }
  }

  /// Prints data.
  static func standardOutput(_ text: String) { write(Data(text.utf8)) }

  /// Prints lines, each piece by piece. A pipe or a file gets the exact bytes.
  static func standardOutput(_ lines: [Line], forTerminals isEscaped: Bool = false) {
    let sink = TextSink { text in
      text.forEachPart { part in
        guard isEscaped else { return write(Data(part)) }
        write(Data(String(decoding: part, as: UTF8.self).forTerminals.utf8))
      }
    }
    for line in lines {
      line.write(to: sink)
      sink.append(UInt8(ascii: "\n"))
    }
    sink.end()
  }

  /// A full disk behind `> file` must not pass for success.
  private static func write(_ bytes: Data) {
    do {
      try FileHandle.standardOutput.write(contentsOf: bytes)
    } catch {
      standardError("kvsync: (standard output): cannot be written; check where it leads\n")
      exit(EX_IOERR)
    }
  }

  static func standardError(_ text: String) {
    do {
      try FileHandle.standardError.write(contentsOf: Data(text.utf8))
    } catch {
      exit(EX_IOERR)  // There is nowhere left to report to.
    }
  }
}

extension String {
  /// As `onOneLine`, but with its line breaks and tabs.
  fileprivate var forTerminals: String {
    unicodeScalars.map {
      $0.isForTerminals && $0 != "\n" && $0 != "\t" ? $0.escaped(asASCII: true) : "\($0)"
    }.joined()
  }

  /// This text with what a terminal would act on escaped: a path may contain a line break, a
  /// message not.
  var onOneLine: String {
    unicodeScalars.map { $0.isForTerminals ? $0.escaped(asASCII: true) : "\($0)" }.joined()
  }
}

extension Unicode.Scalar {
  /// Whether a terminal would not show it but act on it: control characters, those of ISO 6429 from
  /// U+0080 on too, line separators, and what turns the direction of the text around it.
  var isForTerminals: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: properties.isBidiControl
    }
  }
}
