// SPDX-License-Identifier: Apache-2.0

/// Buffers text that is written piece by piece, so that a long text is never in memory as a whole.
///
/// Each piece, and each call of `flush`, has whole Unicode scalars.
package final class TextSink {
  private static let size = 1 << 16

  /// The bytes not flushed yet; all bytes if there is no `flush`.
  package internal(set) var bytes: [UInt8] = []
  let flush: ((UnsafeBufferPointer<UInt8>) -> Void)?

  /// - Parameter flush: receives the text in pieces of about 64 KiB; nil to gather it in `bytes`.
  package init(flush: ((UnsafeBufferPointer<UInt8>) -> Void)? = nil) {
    self.flush = flush
  }

  package func append(_ byte: UInt8) {
    bytes.append(byte)
    if bytes.count >= Self.size, flush != nil { end() }
  }

  package func append(_ piece: UnsafeBufferPointer<UInt8>) {
    guard let flush, bytes.count + piece.count >= Self.size else {
      bytes.append(contentsOf: piece)
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
    guard let flush, !bytes.isEmpty else { return }
    bytes.withUnsafeBufferPointer(flush)
    bytes.removeAll(keepingCapacity: true)
  }

  /// Discards the gathered bytes.
  package func clear() { bytes.removeAll(keepingCapacity: bytes.capacity <= Self.size) }
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
