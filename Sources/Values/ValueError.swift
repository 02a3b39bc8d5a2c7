// SPDX-License-Identifier: Apache-2.0

/// The error of converting a value to or from a stored value.
public struct ValueError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kind of problem, for programs.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Code: Sendable, Equatable {
    /// The stored value has another type than the requested one.
    case typeMismatch
    /// The value is out of range, malformed or nested too deep.
    case invalid
  }

  /// The kind of problem, for programs.
  public let code: Code
  private let sentence: String
  /// Indices in brackets and member names after a dot, from the outside in.
  private var place = ""

  /// For a transformer that refuses a value.
  ///
  /// - Parameters:
  ///   - code: the kind of problem, for programs.
  ///   - description: one sentence for people.
  public init(_ code: Code, _ description: String) {
    self.code = code
    sentence = description
  }

  /// The path of the part with the problem, such as `[2].name`; empty for the whole value.
  public var path: String { place.hasPrefix(".") ? String(place.dropFirst()) : place }

  /// One sentence: the path, the problem and the fix. Never contains the value itself.
  public var description: String { place.isEmpty ? sentence : "at \(path): \(sentence)" }

  /// The error with a path from the container around the value.
  func within(_ place: String) -> ValueError {
    var error = self
    error.place = place + self.place
    return error
  }

  static func mismatch(_ found: StoredValue, wanted: String) -> ValueError {
    ValueError(
      .typeMismatch,
      "the stored value is of type \(found.kind.rawValue), not \(wanted);"
        + " read it with its own type, or set it again")
  }

  static let nestsTooDeep = ValueError(
    .invalid,
    "arrays and dictionaries nest deeper than \(StoredValue.maximumDepth) levels; flatten them")
}
