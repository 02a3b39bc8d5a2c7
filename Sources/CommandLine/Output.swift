// SPDX-License-Identifier: Apache-2.0

import Foundation
package import KeepsakeValues

/// Prints data to stdout, and messages to stderr.
package struct Output {
  package let isJSON: Bool
  package let isQuiet: Bool

  package init(isJSON: Bool, isQuiet: Bool) { (self.isJSON, self.isQuiet) = (isJSON, isQuiet) }

  /// Prints the one JSON value of a command under `--json`, else the lines for people.
  ///
  /// - Parameter isData: whether the lines are what was asked for; `--quiet` silences the others.
  package func print(
    _ json: @autoclosure () throws -> JSON, lines: @autoclosure () throws -> [OutputLine],
    isData: Bool
  ) rethrows {
    if isJSON {
      Self.standardOutput([OutputLine(try json())])
    } else if isData || !isQuiet {
      Self.standardOutput(try lines())
    }
  }

  /// Prints values while `body` runs: as one JSON array under `--json`, otherwise each in a line.
  ///
  /// - Parameter body: calls its argument for each value.
  package func printEach(_ body: ((JSON) -> Void) throws -> Void) rethrows {
    var bytes: [UInt8] = isJSON ? [UInt8(ascii: "[")] : []
    var isFirst = true
    try body { value in
      if isJSON, !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      OutputLine(value).write(to: &bytes, isShown: Terminal.showsOutput)
      if !isJSON { bytes.append(UInt8(ascii: "\n")) }
      if bytes.count >= Self.bufferSize { Self.flush(&bytes) }
    }
    if isJSON { bytes += "]\n".utf8 }
    Self.flush(&bytes)
  }

  /// Prints a message, unless `--quiet`.
  package func say(_ line: String) {
    if !isQuiet { Self.note(line) }
  }

  /// Prints warnings, unless `--quiet`.
  package func warn(_ lines: [String]) {
    if !isQuiet { for line in lines { Self.note(line, .warning) } }
  }

  /// The number of lines of a list that leave room for its summary on a screen.
  static let screenful = 15

  /// Prints one line to stderr.
  package static func note(_ line: String, _ style: Style = .plain) {
    let isPlain = style == .plain || !Terminal.hasErrorColors
    let name = isPlain ? "kvsync:" : style.rawValue + "kvsync:" + Style.plain.rawValue
    standardError("\(name) \(line.onOneLine)\n")
  }

  /// Prints data.
  package static func standardOutput(_ text: String) {
    var text = Terminal.showsOutput ? text.forTerminals : text
    text.withUTF8(write)
  }

  /// Prints lines.
  package static func standardOutput(_ lines: [OutputLine]) {
    printLines { write in lines.forEach(write) }
  }

  /// Prints lines while `body` runs.
  ///
  /// - Parameter body: calls its argument for each line.
  package static func printLines(_ body: ((OutputLine) -> Void) throws -> Void) rethrows {
    var bytes: [UInt8] = []
    try body { line in
      line.write(to: &bytes, isShown: Terminal.showsOutput)
      bytes.append(UInt8(ascii: "\n"))
      if bytes.count >= bufferSize { flush(&bytes) }
    }
    flush(&bytes)
  }

  private static let bufferSize = 1 << 16

  private static func flush(_ bytes: inout [UInt8]) {
    bytes.withUnsafeBufferPointer(write)
    bytes.removeAll(keepingCapacity: bytes.count <= 2 * bufferSize)
  }

  /// Ends the process if standard output cannot be written: a full disk must not pass for success.
  private static func write(_ bytes: UnsafeBufferPointer<UInt8>) {
    if Terminal.showsOutput { ProgressLine.end() }
    var rest = UnsafeRawBufferPointer(bytes)
    while let start = rest.baseAddress, !rest.isEmpty {
      let count = Foundation.write(STDOUT_FILENO, start, rest.count)
      if count > 0 { rest = UnsafeRawBufferPointer(rebasing: rest[count...]) }
      if count > 0 || errno == EINTR { continue }
      // Commands print when their work is done.
      note(
        "(standard output): cannot be written; check where it leads "
          + "(a change that was asked for is made)", .failure)
      exit(EX_IOERR)
    }
  }

  private static func standardError(_ text: String) {
    ProgressLine.end()
    do {
      try FileHandle.standardError.write(contentsOf: Data(text.utf8))
    } catch {
      exit(EX_IOERR)  // There is nowhere left to report to.
    }
  }
}

extension String {
  /// Like `onOneLine`, but keeps line breaks and tabs.
  var forTerminals: String {
    escaping({ $0.needsEscape && $0 != "\n" && $0 != "\t" }) { $0.escaped(asASCII: true) }
  }

  /// This text with escapes for all characters that a terminal would act on: a path may contain a
  /// line break.
  package var onOneLine: String {
    escaping(\.needsEscape) { $0.escaped(asASCII: true) }
  }

  /// This text with `escape` of the scalars that `isEscaped` selects.
  func escaping(
    _ isEscaped: (Unicode.Scalar) -> Bool, with escape: (Unicode.Scalar) -> String
  ) -> String {
    guard unicodeScalars.contains(where: isEscaped) else { return self }
    var text = ""
    for scalar in unicodeScalars {
      if isEscaped(scalar) { text += escape(scalar) } else { text.unicodeScalars.append(scalar) }
    }
    return text
  }
}

extension Unicode.Scalar {
  /// Whether a terminal would act on the character, or not show it: control characters, also those
  /// of ISO 6429 from U+0080 on, line separators, characters that change the direction of text, and
  /// invisible ones, with which two keys would look alike. Joiners of letters are visible by these.
  var needsEscape: Bool {
    // Properties of Unicode are slow to look up.
    if isASCII { return value < 0x20 || value == 0x7F }
    return switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    case .format where value != 0x200C && value != 0x200D: properties.isDefaultIgnorableCodePoint
    // A variation selector is visible by the character before it.
    case .nonspacingMark, .otherLetter:
      properties.isDefaultIgnorableCodePoint && !properties.isVariationSelector
    default: properties.isBidiControl
    }
  }
}
