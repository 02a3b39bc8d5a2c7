// SPDX-License-Identifier: Apache-2.0

/// Buffers text that is written piece by piece, so that a long text is never in memory as a whole.
///
/// Each piece, and each call of `flush`, has whole Unicode scalars.
package final class TextSink {
  private static let size = 1 << 16

  // Not seen by other modules, so that the compiler knows every use and need not check each.
  var buffer: [UInt8] = []
  let flush: ((UnsafeBufferPointer<UInt8>) -> Void)?

  /// - Parameter flush: receives the text in pieces of about 64 KiB; nil to gather it in `bytes`.
  package init(flush: ((UnsafeBufferPointer<UInt8>) -> Void)? = nil) {
    self.flush = flush
  }

  /// The bytes not flushed yet; all bytes if there is no `flush`.
  package var bytes: [UInt8] { buffer }

  package func append(_ byte: UInt8) {
    buffer.append(byte)
    if buffer.count >= Self.size, flush != nil { end() }
  }

  package func append(_ piece: UnsafeBufferPointer<UInt8>) {
    guard let flush, buffer.count + piece.count >= Self.size else {
      buffer.append(contentsOf: piece)
      return
    }
    end()
    flush(piece)
  }

  package func append(_ text: String) {
    var text = text
    text.withUTF8 { append($0) }
  }

  /// Flushes the rest.
  package func end() {
    guard let flush, !buffer.isEmpty else { return }
    buffer.withUnsafeBufferPointer(flush)
    buffer.removeAll(keepingCapacity: true)
  }

  /// Discards the gathered bytes.
  package func clear() { buffer.removeAll(keepingCapacity: buffer.capacity <= Self.size) }
}

// MARK: - Strings of JSON

extension TextSink {
  /// Appends a string in quotes.
  func append(quoted text: String) {
    append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { append(escaping: $0) }
    append(UInt8(ascii: "\""))
  }

  /// Appends whole scalars of a string, with the necessary escapes.
  func append(escaping run: UnsafeBufferPointer<UInt8>) {
    var start = 0
    for (place, byte) in run.enumerated() where Self.needsEscape(byte) {
      if place > start { append(UnsafeBufferPointer(rebasing: run[start..<place])) }
      append(escaping: Unicode.Scalar(byte))
      start = place + 1
    }
    if start < run.count { append(UnsafeBufferPointer(rebasing: run[start...])) }
  }

  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7f
  }

  /// Appends one scalar of a string.
  func append(escaping scalar: Unicode.Scalar) {
    switch scalar {
    case "\"": append("\\\"")
    case "\\": append("\\\\")
    case "\n": append("\\n")
    case "\r": append("\\r")
    case "\t": append("\\t")
    case "\u{0}"..<" ", "\u{7f}":
      let hex = String(scalar.value, radix: 16)
      append("\\u" + String(repeating: "0", count: 4 - hex.count) + hex)
    default: append(String(scalar))
    }
  }
}
