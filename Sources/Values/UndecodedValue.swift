// SPDX-License-Identifier: Apache-2.0

/// A value whose arrays and dictionaries stay text: decoded, they take many times their bytes.
package enum UndecodedValue: Sendable {
  /// A scalar, an opaque value, or a decoded container.
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
  /// As `value`, with containers undecoded; nil for a tombstone. O(n) time in a container's text
  /// and constant memory.
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

/// The text of a readable array or dictionary.
package struct ContainerText: Sendable, Equatable {
  private let text: String
  package let kind: StoredValue.Kind
  /// Whether the text is what this version writes; other programs may write it differently.
  private let isCanonical: Bool

  /// Nil if the text is not of this kind.
  init?(_ text: String, _ kind: StoredValue.Kind) {
    guard let (found, isCanonical) = Self.examine(text), found == kind else { return nil }
    self.text = text
    self.kind = kind
    self.isCanonical = isCanonical
  }

  /// The kind of the value, and whether the text is canonical; nil if it is unreadable.
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

  /// Writes the canonical form.
  ///
  /// - Parameter isShown: whether to write dates as `JSON(showing:)` does.
  func write(to sink: TextSink, isShown: Bool) {
    if isCanonical, !isShown { return sink.append(text) }
    let target = isCanonical ? sink : TextSink()
    var text = text
    text.withUTF8 { bytes in
      var reader = CanonicalText(JSONScanner(bytes), to: target, isShown: isShown)
      // Cannot fail: `examine` has read it.
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
