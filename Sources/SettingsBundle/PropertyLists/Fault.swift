// SPDX-License-Identifier: Apache-2.0

/// A problem at a byte offset. It becomes a `PropertyListError`, with a line and a column, only if
/// it is reported.
package struct Fault: Error {
  package let code: PropertyListError.Code
  package let offset: Int
  package let what: String
  package let cure: String

  package init(
    _ code: PropertyListError.Code, at offset: Int, _ what: String, cure: String
  ) {
    (self.code, self.offset, self.what, self.cure) = (code, offset, what, cure)
  }
}

extension PropertyListError {
  package init(_ fault: Fault, file: String, map: SourceMap?, keyPath: String?) {
    self.init(
      code: fault.code, file: file, position: map?.position(of: fault.offset), keyPath: keyPath,
      message: "\(fault.what); \(fault.cure)", cause: nil, offset: fault.offset)
  }

  /// An error without a line and a column.
  package init(
    _ code: Code, file: String, keyPath: String? = nil, _ what: String, cure: String,
    cause: (any Error)? = nil
  ) {
    self.init(
      code: code, file: file, position: nil, keyPath: keyPath, message: "\(what); \(cure)",
      cause: cause, offset: 0)
  }

  package static func tooLarge(file: String, limit: Int) -> PropertyListError {
    PropertyListError(
      .fileTooLarge, file: file, "the file is larger than the limit of \(limit) bytes",
      cure: "split it, or raise the limit")
  }
}

extension String {
  /// This text, which comes from an untrusted file, in quotes on one line of at most 60 scalars.
  package var quoted: String {
    var result = "\""
    for scalar in unicodeScalars.prefix(60) {
      let needsEscape = scalar.value < 0x20 || [0x7F, 0x85, 0x2028, 0x2029].contains(scalar.value)
      result += needsEscape ? scalar.escaped(asASCII: true) : String(scalar)
    }
    return result + (unicodeScalars.count > 60 ? "…\"" : "\"")
  }
}
