// SPDX-License-Identifier: Apache-2.0

/// The error of a registration or a lookup, with its fix.
public struct InjectionError: Error, CustomStringConvertible {
  /// The kinds of failures; the raw values are part of the message.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Code: String, Sendable {
    /// The key is not registered, or registered without a recipe and not set.
    case missing = "nothing is registered or set for it"
    /// Several registrations match, and not exactly one is primary.
    case ambiguous = "several registrations match"
    /// Two registrations have the same type and name.
    case duplicate = "it is registered more than once"
    /// The object depends on itself.
    case circular = "it depends on itself"
    /// Its recipe makes it again by `make(with:)`, in more than 30 levels.
    case tooDeep = "its recipe makes it again, in more than 30 levels"
    /// The object's recipe is asynchronous and has not run yet.
    case notReady = "its recipe is asynchronous and has not run yet"
    /// The object is transient or weak, so that reading it could run its recipe.
    case notKept = "the container does not keep it, and its recipe may fail"
    /// A recipe of a fresh child asked the container that the child is a copy of.
    case captured = "a recipe looked it up in a container that it captured"
    /// Only class instances can have weak references.
    case notAClass = "it is not a class instance, so it cannot be kept weakly"
    /// The object's class, or one that it inherits from, has a custom mirror or no reflection
    /// metadata, so that its `@Injected` properties cannot be found.
    case hidden = "reflection does not show its stored properties"
    /// `handOff` found properties with equal names and different types, the `candidates`.
    case mismatch = "properties of the same name have another type"
    /// `validate()` found `problems`.
    case invalid = "the registrations are inconsistent"
  }

  /// What went wrong, for programs.
  public let code: Code
  /// The requested key: its type and name.
  public var key: String { path.last ?? "Container" }
  /// The objects under construction, the outermost first, and then the key.
  public internal(set) var path: [String]
  /// The registrations that match, or nearly match, the key.
  public internal(set) var candidates: [String] = []
  /// The single errors of the code `invalid`.
  public internal(set) var problems: [InjectionError] = []
  /// The object to make before a retry can succeed.
  var prerequisite: Prerequisite?
  /// The fix, in one sentence.
  public let cure: String

  // Weak: an application may keep an error for any time.
  struct Prerequisite: Sendable {
    private(set) weak var entry: RegistrationEntry?
    /// The container that keeps the entry.
    private(set) weak var container: Container?
    /// The construction to retry; nil for the whole lookup.
    private(set) weak var frame: ConstructionFrame?

    init(_ entry: RegistrationEntry, in container: Container, for frame: ConstructionFrame? = nil) {
      (self.entry, self.container, self.frame) = (entry, container, frame)
    }
  }

  /// The key, the problem, the path, the candidates and the fix; then one line for each of
  /// `problems`.
  public var description: String {
    var text = "\(key): \(code.rawValue)."
    if path.count > 1 { text += " Path: " + path.joined(separator: " -> ") + "." }
    if !candidates.isEmpty { text += " Candidates: " + candidates.joined(separator: ", ") + "." }
    return problems.reduce(text + " " + cure) { $0 + "\n- \($1)" }
  }
}

extension InjectionError {
  init(
    _ code: Code, path: [String], candidates: [String] = [], problems: [InjectionError] = [],
    prerequisite: Prerequisite? = nil, cure: String? = nil
  ) {
    self.init(
      code: code, path: path, candidates: candidates, problems: problems,
      prerequisite: prerequisite, cure: cure ?? code.usualCure)
  }

  /// An error of a lookup that matches several registrations.
  static func unclear(
    _ key: AnyKey, among candidates: [RegistrationEntry]
  ) -> InjectionError {
    InjectionError(
      key.name == nil ? .ambiguous : .duplicate, path: ConstructionFrame.path(to: key),
      candidates: candidates.map(\.origin.label))
  }
}

extension InjectionError.Code {
  fileprivate var usualCure: String {
    switch self {
    case .missing: "Register it, or add `.as` with this key to the registration of its type."
    case .ambiguous: "Make one of them, and no other, `primary: true`, or ask by name."
    case .duplicate: "Give each its own name."
    case .circular: "Set the links in `then:`, or after the objects exist."
    case .tooDeep: "Make so many levels by a loop, outside of the container."
    case .notReady: "Await `container.start()` first, or ask with `await container.resolve()`."
    case .notKept: "Look it up by `try container.get()`, or register it as a singleton."
    case .captured: "Use the container that is the recipe's argument."
    case .notAClass: "Use another scope, or set it without `weak`."
    case .hidden: "Remove its `customMirror`, which hides them."
    case .mismatch: "Give both properties one type, or rename one of them."
    case .invalid: "Fix each of these:"
    }
  }
}
