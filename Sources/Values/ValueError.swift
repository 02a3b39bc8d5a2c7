// SPDX-License-Identifier: Apache-2.0

/// A value that cannot become, or come from, a stored value.
public struct ValueError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What is wrong, for programs.
  public enum Code: Sendable, Equatable {
    /// The stored value has another type than the one asked for.
    case typeMismatch
    /// The type is right, the value is not: out of range, malformed, nested too deep.
    case invalid
  }

  public let code: Code
  /// One sentence: what is wrong and what to do. Never contains the value itself.
  public let description: String

  public init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }

  static func mismatch(_ found: StoredValue, wanted: String) -> ValueError {
    ValueError(
      .typeMismatch,
      "the stored value is of type \(found.kind.rawValue), not \(wanted);"
        + " read it with its own type, or set it anew")
  }
}
