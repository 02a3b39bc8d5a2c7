// SPDX-License-Identifier: Apache-2.0
//
// A line that a command prints. Values in it may be large, so they are written when it is printed,
// piece by piece.

package import KeepsakeValues

/// A JSON value with escapes for what a terminal would act on.
package struct Quoted: CustomStringConvertible {
  private let json: JSON

  package init(_ json: JSON) { self.json = json }

  package func write(to sink: TextSink) {
    let escaping = TextSink { piece in
      // The others are of more than one byte.
      guard piece.contains(where: { $0 >= 0x80 }) else { return sink.append(piece) }
      piece.forEachPart { Self.writeEscaped(String(decoding: $0, as: UTF8.self), to: sink) }
    }
    json.write(to: escaping)
    escaping.end()
  }

  private static func writeEscaped(_ text: String, to sink: TextSink) {
    for scalar in text.unicodeScalars {
      guard scalar.isForTerminals else {
        sink.append(String(scalar))
        continue
      }
      for unit in String(scalar).utf16 {
        sink.append("\\u" + ("000" + String(unit, radix: 16)).suffix(4))
      }
    }
  }

  package var description: String {
    let sink = TextSink()
    write(to: sink)
    return String(decoding: sink.bytes, as: UTF8.self)
  }
}

package struct Line {
  fileprivate enum Piece {
    case text(String)
    case json(JSON)
    case quoted(Quoted)
    case style(Style)
  }

  private var pieces: [Piece] = []

  package init(_ text: String) { pieces = [.text(text)] }
  package init(_ json: JSON) { pieces = [.json(json)] }

  /// - Parameter isShown: whether a terminal gets it, which must not act on anything in it; a pipe
  ///   or a file gets the exact bytes.
  package func write(to sink: TextSink, isShown: Bool) {
    for piece in pieces {
      switch piece {
      case .text(let text) where isShown: Self.writeEscaped(text, to: sink)
      case .json(let json) where isShown: Quoted(json).write(to: sink)
      case .text(let text): sink.append(text)
      case .json(let json): json.write(to: sink)
      case .quoted(let value): value.write(to: sink)
      case .style(let style): if isShown, Terminal.hasColors { sink.append(style.rawValue) }
      }
    }
  }

  private static func writeEscaped(_ text: String, to sink: TextSink) {
    var text = text
    text.withUTF8 { bytes in
      bytes.forEachPart { sink.append(String(decoding: $0, as: UTF8.self).forTerminals) }
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

    package mutating func appendInterpolation(_ value: Quoted) { pieces.append(.quoted(value)) }
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

extension UnsafeBufferPointer<UInt8> {
  /// Calls `body` for parts of a text, each of whole scalars.
  func forEachPart(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
    var start = 0
    while start < count {
      var end = Swift.min(start + 65_536, count)
      while end < count, self[end] & 0xC0 == 0x80 { end -= 1 }
      body(UnsafeBufferPointer(rebasing: self[start..<end]))
      start = end
    }
  }
}
