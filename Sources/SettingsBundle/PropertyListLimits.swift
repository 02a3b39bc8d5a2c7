// SPDX-License-Identifier: Apache-2.0

/// What a property list may cost. Each limit is checked before the memory is spent.
public struct PropertyListLimits: Sendable, Hashable {
  /// The size of a file in bytes; at most 4 GiB - 2, whatever is set.
  public var bytes = 4 << 20
  /// How deep arrays and dictionaries may nest; at most 512, whatever is set, because Swift frees
  /// nested arrays recursively.
  public var depth = 64
  /// How many elements a file may have: every value and every key counts one.
  public var elements = 100_000
  /// The bytes of one element's text; of a string or a key, after references are replaced.
  public var textBytes = 1 << 20

  public init() {}
}

extension PropertyListLimits {
  /// Offsets are 32 bits wide, and the end of the file has one too.
  package var effectiveBytes: Int { min(bytes, Int(UInt32.max) - 1) }
  var effectiveDepth: Int { min(depth, 512) }
}
