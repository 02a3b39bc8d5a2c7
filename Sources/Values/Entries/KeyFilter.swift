// SPDX-License-Identifier: Apache-2.0

/// A set of keys of a store. Keys compare by their bytes.
public struct KeyFilter: Sendable, Hashable, ExpressibleByStringInterpolation,
  ExpressibleByArrayLiteral
{
  package enum Kind: Sendable, Hashable {
    case keys(Set<ByteText>)
    /// An empty prefix matches every key.
    case prefix(ByteText)
  }

  package let kind: Kind

  /// Every key.
  public static var all: KeyFilter { prefix("") }

  /// One key; `"theme"` as a literal means the same.
  public static func key(_ key: String) -> KeyFilter { keys([key]) }

  /// Several keys; `["theme", "volume"]` as a literal means the same.
  public static func keys(_ keys: some Sequence<String>) -> KeyFilter {
    KeyFilter(kind: .keys(Set(keys.map(ByteText.init))))
  }

  /// Keys that start with these bytes.
  public static func prefix(_ prefix: String) -> KeyFilter {
    KeyFilter(kind: .prefix(ByteText(prefix)))
  }

  private init(kind: Kind) { self.kind = kind }

  public init(stringLiteral key: String) { self = .key(key) }

  public init(arrayLiteral keys: String...) { self = .keys(keys) }

  /// The keys of the filter; empty for a prefix.
  package var names: Set<ByteText> {
    if case .keys(let keys) = kind { keys } else { [] }
  }

  package func contains(_ key: ByteText) -> Bool {
    switch kind {
    case .keys(let keys): keys.contains(key)
    case .prefix(let prefix): key.string.utf8.starts(with: prefix.string.utf8)
    }
  }
}
