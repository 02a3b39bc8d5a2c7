// SPDX-License-Identifier: Apache-2.0

/// Why a registration or a lookup cannot work, and what to do about it.
public struct InjectionError: Error, CustomStringConvertible {
  /// The kinds of failure.
  public enum Code: String, Sendable {
    /// Nothing is registered for the key, or it is registered and not set.
    case missing
    /// Several registrations fit and none, or more than one, is primary.
    case ambiguous
    /// Two registrations have the same type and name.
    case duplicate
    /// The object is needed to make itself.
    case circular
    /// An asynchronous recipe has not been run yet.
    case notReady
    /// A value that is not a class instance cannot be kept weakly.
    case notAClass
    /// `validate()` found `problems`.
    case invalid
  }

  /// What kind of failure it is.
  public let code: Code
  /// The key that was asked for; its type and name.
  public let key: String
  /// What could have been meant.
  public let candidates: [String]
  /// The objects that were being made, the outermost first, down to the key.
  public let path: [String]
  /// One sentence that says what to change.
  public let cure: String
  /// Everything found, when the code is `invalid`.
  public let problems: [InjectionError]
  /// Makes what was not ready; after that the lookup is worth another try.
  let prepare: (@Sendable () async throws -> Void)?

  init(
    _ code: Code, _ target: Target?, candidates: [String] = [], path: [String]? = nil,
    problems: [InjectionError] = [], cure: String,
    prepare: (@Sendable () async throws -> Void)? = nil
  ) {
    (self.code, self.candidates) = (code, candidates)
    key = target?.label ?? path?.last ?? "Container"
    self.path = path ?? Frame.path + [key]
    (self.problems, self.cure, self.prepare) = (problems, cure, prepare)
  }

  static func circular(_ path: [String]) -> InjectionError {
    InjectionError(
      .circular, nil, path: path,
      cure: "Set one of the links in `then:` or after both objects exist.")
  }

  /// The key, the code, the path, the candidates, the cure; then all problems, a line for each.
  public var description: String {
    var text = "\(key): \(code.rawValue)"
    if path.count > 1 { text += ", path: " + path.joined(separator: " -> ") }
    if !candidates.isEmpty { text += ", candidates: " + candidates.joined(separator: ", ") }
    return problems.reduce(text + ". " + cure) { $0 + "\n- \($1)" }
  }
}
