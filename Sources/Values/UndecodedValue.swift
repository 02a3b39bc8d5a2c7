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
    let kind: StoredValue.Kind? =
      switch Tag(rawValue: tag) {
      case .array: .array
      case .dictionary: .dictionary
      default: nil
      }
    guard let kind, case .text(let text) = cell else { return value.map(UndecodedValue.decoded) }
    return ContainerText(text, kind).map(UndecodedValue.container)
      ?? .decoded(.opaque(OpaqueValue(self)))
  }
}

extension JSON {
  /// The shown form, without decoding a container.
  package init(showing value: UndecodedValue) throws(ValueError) {
    switch value {
    case .decoded(let value): self = try JSON(showing: value)
    case .container(let text): self = .container(text, isShown: true)
    }
  }
}

extension ContainerText {
  /// Nil if the text is not of this kind.
  init?(_ text: String, _ kind: StoredValue.Kind) {
    guard let (found, isCanonical) = Self.examine(text), found == kind else { return nil }
    self.init(text: text, kind: kind, isCanonical: isCanonical)
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
}
