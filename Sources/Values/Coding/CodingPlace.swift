// SPDX-License-Identifier: Apache-2.0
//
// Shared by the encoder and the decoder: coding keys, and the conversion of Codable's errors, which
// may quote the value, to `ValueError`, which never does.

/// The coding key of an index or of a superclass.
struct PlaceKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) {
    stringValue = String(intValue)
    self.intValue = intValue
  }

  static let ofSuper = PlaceKey(stringValue: "super")
}

extension ValueError {
  /// The same error at a coding path.
  func within(_ path: [any CodingKey]) -> ValueError {
    within(
      path.map {
        $0 is PlaceKey && $0.intValue != nil ? "[\($0.stringValue)]" : ".\($0.stringValue)"
      }.joined())
  }

  /// Prefers an underlying `ValueError`.
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
    self = reason.within(context.codingPath)
  }

  fileprivate init(_ error: EncodingError) {
    let reason = ValueError(.invalid, "the type cannot encode this value; change the value")
    switch error {
    case .invalidValue(_, let context):
      self = (context.underlyingError as? ValueError ?? reason).within(context.codingPath)
    @unknown default: self = reason
    }
  }
}

/// Runs code of a `Codable` type and converts Codable's errors; other errors pass unchanged.
func coding<Result>(_ body: () throws -> Result) throws -> Result {
  do {
    return try body()
  } catch let error as DecodingError {
    throw ValueError(error)
  } catch let error as EncodingError {
    throw ValueError(error)
  }
}

/// A container that encodes its elements in random order, so that the encoder has to sort them.
protocol UnorderedContainer {
  /// The number of array elements for each element: a dictionary without string keys encodes keys
  /// and values in turn.
  static var stride: Int { get }
  var count: Int { get }
}

extension Set: UnorderedContainer {
  static var stride: Int { 1 }
}

extension Dictionary: UnorderedContainer {
  static var stride: Int { 2 }
}
