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
  private let sentence: String
  /// Index in brackets or a dot and a member's name, from the outside in.
  private var place = ""

  public init(_ code: Code, _ description: String) {
    self.code = code
    sentence = description
  }

  /// Which part of the value it is, as `[2].name`; empty for the whole value.
  public var path: String { place.hasPrefix(".") ? String(place.dropFirst()) : place }

  /// One sentence: where it is, what is wrong and what to do. Never contains the value itself.
  public var description: String { place.isEmpty ? sentence : "at \(path): \(sentence)" }

  /// The same error, seen from the container that the value is a part of.
  func within(_ place: String) -> ValueError {
    var error = self
    error.place = place + self.place
    return error
  }

  static func mismatch(_ found: StoredValue, wanted: String) -> ValueError {
    ValueError(
      .typeMismatch,
      "the stored value is of type \(found.kind.rawValue), not \(wanted);"
        + " read it with its own type, or set it anew")
  }
}
