// SPDX-License-Identifier: Apache-2.0

/// A value whose arrays and dictionaries are the text that the file has: decoded, each element
/// takes many times its bytes.
package enum UndecodedValue: Sendable {
  /// No container, or one that was there decoded.
  case decoded(StoredValue)
  case container(ContainerText)

  package var kind: StoredValue.Kind {
    switch self {
    case .decoded(let value): value.kind
    case .container(let text): text.kind
    }
  }
}

extension TaggedCell {
  /// The value as `value` has it, containers undecoded; nil for a tombstone. O(n) in time for a
  /// container, without memory.
  package var undecoded: UndecodedValue? {
    guard let kind = containerKind, case .text(let text) = cell else {
      return value.map(UndecodedValue.decoded)
    }
    return ContainerText(text, kind).map(UndecodedValue.container)
      ?? .decoded(.opaque(OpaqueValue(self)))
  }

  private var containerKind: StoredValue.Kind? {
    switch Tag(rawValue: tag) {
    case .array: .array
    case .dictionary: .dictionary
    default: nil
    }
  }
}

/// The text of an array or a dictionary that can be read.
package struct ContainerText: Sendable, Equatable {
  private let text: String
  package let kind: StoredValue.Kind
  /// Whether it is as this version writes it: another program may have written it its own way.
  private let isCanonical: Bool

  /// Nil for a text that is none of this kind.
  init?(_ text: String, _ kind: StoredValue.Kind) {
    guard let (found, isCanonical) = Self.examine(text), found == kind else { return nil }
    self.text = text
    self.kind = kind
    self.isCanonical = isCanonical
  }

  /// The kind of what the text stands for, and whether it is canonical; nil when it is unreadable.
  private static func examine(_ text: String) -> (StoredValue.Kind, Bool)? {
    var text = text
    return text.withUTF8 { bytes in
      var rest = bytes[...]
      var isSame = true
      let sink = TextSink { piece in
        isSame = isSame && rest.starts(with: piece)
        rest = rest.dropFirst(piece.count)
      }
      var reader = CanonicalText(JSONScanner(bytes), to: sink)
      let result = Result { () throws(JSONError) in
        let kind = try reader.value()
        try reader.scanner.end()
        return kind
      }
      sink.end()
      guard case .success(let kind?) = result, reader.fault == nil else { return nil }
      return (kind, isSame && rest.isEmpty && reader.isOrdered)
    }
  }

  /// Writes it in its canonical form.
  ///
  /// - Parameter isShown: whether dates are ISO 8601, as `JSON(showing:)` has them.
  func write(to sink: TextSink, isShown: Bool) {
    if isCanonical, !isShown { return sink.append(text) }
    let target = isCanonical ? sink : TextSink()
    var text = text
    text.withUTF8 { bytes in
      var reader = CanonicalText(JSONScanner(bytes), to: target, isShown: isShown)
      // It was read before.
      _ = Result { () throws(JSONError) in try reader.value() }
    }
    if !isCanonical { target.bytes.withUnsafeBufferPointer(sink.append) }
  }

  func json() throws(ValueError) -> JSON {
    do throws(JSONError) {
      return try JSON(parsing: text)
    } catch {
      throw ValueError(.invalid, "this is not JSON: \(error)")
    }
  }
}
