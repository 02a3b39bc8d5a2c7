// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
package import KeepsakeValues

/// A JSON value with escapes for what a terminal would act on.
package struct EscapedJSON: CustomStringConvertible {
  package let description: String

  /// A value in a line of several: text in quotes, so that it has a beginning and an end.
  package init(_ value: StoredValue) throws { self.init(json: try JSON(showing: value)) }

  package init(json: JSON) {
    description = json.text().escaping(\.needsEscape) { scalar in
      String(scalar).utf16.map { "\\u" + ("000" + String($0, radix: 16)).suffix(4) }.joined()
    }
  }
}

/// A line that a command prints.
package struct OutputLine {
  fileprivate enum Piece {
    case text(String)
    case json(JSON)
    case style(Style)
  }

  private var pieces: [Piece] = []

  package init(_ text: String) { pieces = [.text(text)] }
  package init(_ json: JSON) { pieces = [.json(json)] }

  /// A value alone, for a person or a shell: text as it is, containers as JSON.
  package init(plain value: StoredValue) throws {
    switch try JSON(showing: value) {
    case .string(let text): self.init(text)
    case let json: self.init(json)
    }
  }

  /// A value in quotes, or a text for a deletion or no value.
  package init(_ content: TaggedCell, or absence: String) throws {
    self = try content.value.map { "\(try EscapedJSON($0))" } ?? OutputLine(absence)
  }

  /// The values of a key before and after a change.
  init(_ change: SettingChange) throws {
    let before = try OutputLine(change.before, or: "nothing")
    let after = try OutputLine(change.after, or: "nothing")
    self = "\(before, .old) -> \(after, .new)"
  }

  /// Appends the text of the line.
  ///
  /// - Parameter isShown: whether a terminal gets it, which must not act on anything in it; a pipe
  ///   or a file gets the exact bytes.
  package func write(to bytes: inout [UInt8], isShown: Bool) {
    for piece in pieces {
      switch piece {
      case .text(let text): bytes += (isShown ? text.forTerminals : text).utf8
      case .json(let json) where isShown: bytes += EscapedJSON(json: json).description.utf8
      case .json(let json): json.write(to: &bytes)
      case .style(let style): if isShown, Terminal.hasColors { bytes += style.rawValue.utf8 }
      }
    }
  }
}

extension OutputLine: ExpressibleByStringInterpolation {
  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var pieces: [Piece] = []

    package init(literalCapacity: Int, interpolationCount: Int) {}

    package mutating func appendLiteral(_ text: String) {
      if !text.isEmpty { pieces.append(.text(text)) }
    }

    package mutating func appendInterpolation(_ text: some CustomStringConvertible) {
      appendLiteral(text.description)
    }

    package mutating func appendInterpolation(_ line: OutputLine) { pieces += line.pieces }

    package mutating func appendInterpolation(_ line: OutputLine, _ style: Style) {
      pieces += [.style(style)] + line.pieces + [.style(.plain)]
    }

    package mutating func appendInterpolation(_ text: String, _ style: Style) {
      appendInterpolation(OutputLine(text), style)
    }
  }

  package init(stringLiteral text: String) { self.init(text) }
  package init(stringInterpolation: StringInterpolation) { pieces = stringInterpolation.pieces }
}

extension String {
  /// The name of a key, a store or a file in a line, in quotes if it has a tab or a line break, for
  /// example, which would fake a column or a line.
  package var quotedIfNeeded: String {
    unicodeScalars.contains(where: \.needsEscape) ? "\(EscapedJSON(json: .string(self)))" : self
  }
}
