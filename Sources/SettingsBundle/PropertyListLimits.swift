// SPDX-License-Identifier: Apache-2.0

/// Limits on the size of a property list, each checked before memory is allocated.
public struct PropertyListLimits: Sendable, Hashable {
  /// The bytes of a file; larger values than 4 GiB - 2 count as that.
  public var bytes = 4 << 20
  /// The nesting depth of arrays and dictionaries; larger values than 512 count as that, because
  /// Swift frees nested arrays recursively.
  public var depth = 64
  /// The elements of a file: every value and every key counts as one.
  public var elements = 100_000
  /// The bytes of one element's text, in a string or a key with references replaced.
  public var textBytes = 1 << 20

  /// The limits above.
  public init() {}
}

extension PropertyListLimits {
  /// Offsets have 32 bits, and the end of the file needs one too.
  package var effectiveBytes: Int { min(bytes, Int(UInt32.max) - 1) }
  var effectiveDepth: Int { min(depth, 512) }
}
