// SPDX-License-Identifier: Apache-2.0

package import KeepsakeValues

/// A JSON value with escapes for what a terminal would act on.
package struct Quoted: CustomStringConvertible {
  package let description: String

  package init(_ json: JSON) {
    description = json.text().escaping(\.needsEscape) { scalar in
      String(scalar).utf16.map { "\\u" + ("000" + String($0, radix: 16)).suffix(4) }.joined()
    }
  }
}

/// A line that a command prints.
package struct Line {
  fileprivate enum Piece {
    case text(String)
    case json(JSON)
    case style(Style)
  }

  private var pieces: [Piece] = []

  package init(_ text: String) { pieces = [.text(text)] }
  package init(_ json: JSON) { pieces = [.json(json)] }

  /// Appends the text of the line.
  ///
  /// - Parameter isShown: whether a terminal gets it, which must not act on anything in it; a pipe
  ///   or a file gets the exact bytes.
  package func write(to bytes: inout [UInt8], isShown: Bool) {
    for piece in pieces {
      switch piece {
      case .text(let text): bytes += (isShown ? text.forTerminals : text).utf8
      case .json(let json) where isShown: bytes += Quoted(json).description.utf8
      case .json(let json): json.write(to: &bytes)
      case .style(let style): if isShown, Terminal.hasColors { bytes += style.rawValue.utf8 }
      }
    }
  }
}

extension Line: ExpressibleByStringInterpolation {
  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var pieces: [Piece] = []

    package init(literalCapacity: Int, interpolationCount: Int) {}

    package mutating func appendLiteral(_ text: String) {
      if !text.isEmpty { pieces.append(.text(text)) }
    }

    package mutating func appendInterpolation(_ text: some CustomStringConvertible) {
      appendLiteral(text.description)
    }

    package mutating func appendInterpolation(_ line: Line) { pieces += line.pieces }

    package mutating func appendInterpolation(_ line: Line, _ style: Style) {
      pieces += [.style(style)] + line.pieces + [.style(.plain)]
    }

    package mutating func appendInterpolation(_ text: String, _ style: Style) {
      appendInterpolation(Line(text), style)
    }
  }

  package init(stringLiteral text: String) { self.init(text) }
  package init(stringInterpolation: StringInterpolation) { pieces = stringInterpolation.pieces }
}
