// SPDX-License-Identifier: Apache-2.0

/// A problem at a byte offset. Lines and columns are computed only for faults that are reported.
package struct Fault: Error {
  package let code: PropertyListError.Code
  package let offset: Int
  package let what: String
  package let cure: String
  /// A second place in the same file.
  let related: Related?

  package struct Related {
    /// "first at", "opened at" or "written at".
    let relation: String
    package let offset: Int

    package init(relation: String, offset: Int) {
      self.relation = relation
      self.offset = offset
    }
  }

  package init(
    _ code: PropertyListError.Code, at offset: Int, _ what: String, cure: String,
    related: Related? = nil
  ) {
    self.code = code
    self.offset = offset
    self.what = what
    self.cure = cure
    self.related = related
  }

  /// One line: the problem and the fix.
  ///
  /// - Parameter map: nil for a binary property list.
  package func message(in map: SourceMap?) -> String {
    let place = map.flatMap { map in
      related.map { ", \($0.relation) \(map.position(of: $0.offset))" }
    }
    return "\(what)\(place ?? ""); \(cure)"
  }
}

extension PropertyListError {
  package init(
    _ fault: Fault, file: String, map: SourceMap?, keyPath: String?, cause: (any Error)? = nil
  ) {
    self.init(
      code: fault.code, file: file, position: map?.position(of: fault.offset), keyPath: keyPath,
      message: fault.message(in: map), cause: cause)
  }

  /// An error without a line and a column.
  package init(
    _ code: Code, file: String, keyPath: String? = nil, _ what: String, cure: String,
    cause: (any Error)? = nil
  ) {
    self.init(
      code: code, file: file, position: nil, keyPath: keyPath, message: "\(what); \(cure)",
      cause: cause)
  }

  package static func tooLarge(file: String, limit: Int) -> PropertyListError {
    PropertyListError(
      .fileTooLarge, file: file, "the file is larger than the limit of \(limit) bytes",
      cure: "split it, or raise the limit")
  }
}

extension Fault {
  /// The error of reading a pane as a fault of the row that names it; nil for a fault within the
  /// pane and for a limit.
  init?(unreadable error: PropertyListError, _ file: String, at offset: Int) {
    let name = file.quoted
    switch error.code {
    case .notAFile:
      self.init(
        error.code, at: offset, "the pane \(name) is not a regular file",
        cure: "put a property list in its place, or remove this row")
    case .permissionDenied:
      self.init(
        error.code, at: offset, "permission to read the pane \(name) is denied",
        cure: "change its permissions")
    case .unreadable:
      self.init(
        error.code, at: offset, "the pane \(name) cannot be read", cure: "check the disk")
    default: return nil
    }
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
