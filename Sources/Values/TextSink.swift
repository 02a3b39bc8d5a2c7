// SPDX-License-Identifier: Apache-2.0

/// Buffers text that is written piece by piece, so that a long text is never in memory as a whole.
///
/// Each piece, and each call of `flush`, has whole Unicode scalars.
package final class TextSink {
  private static let size = 1 << 16

  /// The bytes not flushed yet; all bytes if there is no `flush`.
  package private(set) var bytes: [UInt8] = []
  private let flush: ((UnsafeBufferPointer<UInt8>) -> Void)?

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

  /// Sorts the members of the object from `start` to the end by bytes; does nothing with a `flush`.
  func orderMembers(from start: Int) {
    guard flush == nil else { return }
    var ordered: [UInt8] = [UInt8(ascii: "{")]
    ordered.reserveCapacity(bytes.count - start)
    bytes.withUnsafeBufferPointer { bytes in
      for place in Self.orderedMembers(bytes, from: start) {
        if ordered.count > 1 { ordered.append(UInt8(ascii: ",")) }
        var scanner = JSONScanner(bytes)
        scanner.index = place
        scanner.skipString()
        scanner.index += 1
        scanner.skipValue()
        ordered.append(contentsOf: bytes[place..<scanner.index])
      }
    }
    ordered.append(UInt8(ascii: "}"))
    bytes.replaceSubrange(start..., with: ordered)
  }

  private static func orderedMembers(
    _ bytes: UnsafeBufferPointer<UInt8>, from start: Int
  ) -> [Int] {
    var places: [Int] = []
    JSONScanner.forEachName(in: bytes, from: start, to: bytes.count) {
      places.append($0.place - 1)
      return true
    }
    func name(_ place: Int) -> MemberName {
      var scanner = JSONScanner(bytes)
      scanner.index = place
      scanner.skipString()
      return MemberName(bytes, place + 1..<scanner.index - 1)
    }
    places.sort { name($0).compare(name($1)) < 0 }
    return places
  }
}
