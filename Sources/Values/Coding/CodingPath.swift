// SPDX-License-Identifier: Apache-2.0
//
// Coding keys and paths, and the conversion of Codable's errors, which may quote the value, to
// `ValueError`, which never does.

/// A coding key without a type of its own: an index, the name of a member, or a superclass.
struct AnyCodingKey: CodingKey {
  let stringValue: String
  var intValue: Int? { Int(stringValue) }

  init(stringValue: String) { self.stringValue = stringValue }
  init(intValue: Int) { stringValue = String(intValue) }

  static let ofSuper = AnyCodingKey(stringValue: "super")
}

extension [any CodingKey] {
  /// The path as `ValueError` has it: indices in brackets, and names after a dot.
  var path: String {
    map {
      $0 is AnyCodingKey && $0.intValue != nil ? "[\($0.stringValue)]" : ".\($0.stringValue)"
    }.joined()
  }
}

extension ValueError {
  /// Uses the underlying error if that is a `ValueError`.
  fileprivate init(_ error: DecodingError) {
    switch error {
    case .typeMismatch(let type, let context):
      self.init(context, .typeMismatch, "the stored value is not a \(type); set it again")
    case .valueNotFound(let type, let context):
      self.init(context, .invalid, "a value of type \(type) is missing; set it again")
    case .keyNotFound(let key, let context):
      self.init(
        context, .invalid,
        "the member \"\(key.stringValue)\" is missing; make it optional, or set the value again")
    case .dataCorrupted(let context):
      self.init(context, .invalid, "the type rejects the stored value; set it again")
    @unknown default:
      self.init(.invalid, "the type rejects the stored value; set it again")
    }
  }

  private init(_ context: DecodingError.Context, _ code: Code, _ sentence: String) {
    let reason = context.underlyingError as? ValueError ?? ValueError(code, sentence)
    self = reason.within(context.codingPath.path)
  }

  fileprivate init(_ error: EncodingError) {
    let reason = ValueError(.invalid, "the type cannot encode this value; change the value")
    switch error {
    case .invalidValue(_, let context):
      self = (context.underlyingError as? ValueError ?? reason).within(context.codingPath.path)
    @unknown default: self = reason
    }
  }
}

/// Runs code of a `Codable` type and converts Codable's errors; rethrows other errors unchanged.
func convertingCodingErrors<Result>(_ body: () throws -> Result) throws -> Result {
  do {
    return try body()
  } catch let error as DecodingError {
    throw ValueError(error)
  } catch let error as EncodingError {
    throw ValueError(error)
  }
}
