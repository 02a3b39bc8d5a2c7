// SPDX-License-Identifier: Apache-2.0

/// A problem at a byte offset. Lines and columns are computed only for faults that are reported.
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
  /// This text in quotes on one line, cut after 60 scalars: it comes from an untrusted file.
  package var quoted: String {
    var result = "\""
    for scalar in unicodeScalars.prefix(60) {
      result +=
        scalar.value < 0x20 || scalar.value == 0x7F || isLineBreak(scalar)
        ? scalar.escaped(asASCII: true) : String(scalar)
    }
    return result + (unicodeScalars.count > 60 ? "…\"" : "\"")
  }

  private func isLineBreak(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "\u{85}" || scalar == "\u{2028}" || scalar == "\u{2029}"
  }
}
