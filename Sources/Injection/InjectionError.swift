// SPDX-License-Identifier: Apache-2.0

/// Why a registration or a lookup cannot work, and what to do about it.
public struct InjectionError: Error, CustomStringConvertible {
  /// The kinds of failure; the raw value says it in words.
  public enum Code: String, Sendable {
    /// Nothing is registered for the key, or it is registered and not set.
    case missing = "nothing is registered or set for it"
    /// Several registrations fit and none, or more than one, is primary.
    case ambiguous = "several registrations fit"
    /// Two registrations have the same type and name.
    case duplicate = "it is registered more than once"
    /// The object is needed to make itself.
    case circular = "it is needed to make itself"
    /// An asynchronous recipe has not been run yet.
    case notReady = "it is made asynchronously, and is not made yet"
    /// A value that is not a class instance cannot be kept weakly.
    case notAClass = "it is not a class instance, so it cannot be kept weakly"
    /// `handOff` met properties with the same name and another type, the `candidates`.
    case mismatch = "properties of the same name have another type"
    /// `validate()` found `problems`.
    case invalid = "the registrations do not fit together"
  }

  /// What kind of failure it is.
  public let code: Code
  /// The key that was asked for; its type and name.
  public var key: String { path.last ?? "Container" }
  /// The objects that were being made, the outermost first, down to the key.
  public internal(set) var path: [String]
  /// What could have been meant.
  public internal(set) var candidates: [String] = []
  /// Everything found, when the code is `invalid`.
  public internal(set) var problems: [InjectionError] = []
  /// What is not made yet; after that the lookup is worth another try.
  var pending: (entry: Entry, owner: Container)?
  /// One sentence that says what to change.
  public let cure: String

  static func unclear(_ target: Target, _ candidates: [Entry]) -> InjectionError {
    InjectionError(
      code: target.name == nil ? .ambiguous : .duplicate, path: Frame.path(to: target),
      candidates: candidates.map(\.origin.label),
      cure: target.name == nil
        ? "Make one of them, and no other, `primary: true`, or ask by name."
        : "Give each its own name.")
  }

  static func notAClass(_ target: Target) -> InjectionError {
    InjectionError(
      code: .notAClass, path: Frame.path(to: target),
      cure: "Use another scope, or set it without `weak`.")
  }

  /// - Parameter wired: What could be used already, had it been asked for first.
  static func circular(_ path: [String], _ wired: String? = nil) -> InjectionError {
    InjectionError(
      code: .circular, path: path,
      cure: wired.map {
        "Register and ask for \($0) first, or set every link of the cycle in `then:`."
      }
        ?? "Set the links in `then:`, or after the objects exist.")
  }

  /// The key, what happened, the path, the candidates, the cure; then all problems, a line each.
  public var description: String {
    var text = "\(key): \(code.rawValue)."
    if path.count > 1 { text += " Path: " + path.joined(separator: " -> ") + "." }
    if !candidates.isEmpty { text += " Candidates: " + candidates.joined(separator: ", ") + "." }
    return problems.reduce(text + " " + cure) { $0 + "\n- \($1)" }
  }
}
