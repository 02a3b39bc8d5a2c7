// SPDX-License-Identifier: Apache-2.0
//
// What the encoder and the decoder have in common: names of places, and Codable's errors, which may
// quote the value, turned into ours, which never do.

/// The key of a part that is no property: an index, or where a superclass is encoded.
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

  /// Our own reason where there is one.
  fileprivate init(_ error: DecodingError) {
    switch error {
    case .typeMismatch(let type, let context):
      self.init(context, .typeMismatch, "the stored value is not a \(type); set it anew")
    case .valueNotFound(let type, let context):
      self.init(context, .invalid, "there is no \(type); set it anew")
    case .keyNotFound(let key, let context):
      self.init(
        context, .invalid,
        "there is no member \"\(key.stringValue)\"; make it optional, or set the value anew")
    case .dataCorrupted(let context):
      self.init(context, .invalid, "the type refuses the stored value; set it anew")
    @unknown default:
      self.init(.invalid, "the type refuses the stored value; set it anew")
    }
  }

  private init(_ context: DecodingError.Context, _ code: Code, _ sentence: String) {
    let reason = context.underlyingError as? ValueError ?? ValueError(code, sentence)
    self = reason.within(context.codingPath)
  }

  fileprivate init(_ error: EncodingError) {
    let reason = ValueError(.invalid, "the type refuses to encode this value; mend the value")
    switch error {
    case .invalidValue(_, let context):
      self = (context.underlyingError as? ValueError ?? reason).within(context.codingPath)
    @unknown default: self = reason
    }
  }
}

/// Runs code of a `Codable` type. What it throws of its own comes through as it is.
func coding<Result>(_ body: () throws -> Result) throws -> Result {
  do {
    return try body()
  } catch let error as DecodingError {
    throw ValueError(error)
  } catch let error as EncodingError {
    throw ValueError(error)
  }
}

/// A container in whose encoding the order of elements is left to chance, and has to be made.
protocol UnorderedContainer {
  /// How many elements of an array one element takes: a dictionary whose keys are no text becomes
  /// keys and values in turn.
  static var stride: Int { get }
  var count: Int { get }
}

extension Set: UnorderedContainer {
  static var stride: Int { 1 }
}

extension Dictionary: UnorderedContainer {
  static var stride: Int { 2 }
}
