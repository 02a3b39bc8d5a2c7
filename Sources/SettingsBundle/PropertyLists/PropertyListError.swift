// SPDX-License-Identifier: Apache-2.0

/// Why reading a property list or a Settings bundle failed, and where.
///
/// `description` is one line, `file:line:column: problem; fix`, or for a binary property list,
/// which has no lines, `file:key path: problem; fix`. It contains keys and types, and no values.
public struct PropertyListError: Error, Sendable, CustomStringConvertible {
  /// The kind of problem, for programs.
  public let code: Code
  /// The path of the file, which starts with the caller's path; for a warning the path in the
  /// bundle.
  public private(set) var file: String
  /// The place in the file; nil in a binary property list, and if the file could not be read.
  public let position: SourcePosition?
  /// The key path of the place, such as `PreferenceSpecifiers[3].DefaultValue`; nil at the root and
  /// outside it.
  public let keyPath: String?
  /// The problem and the fix, without the place.
  public let message: String
  /// The error of the operating system if reading failed.
  public let cause: (any Error)?
  /// The offset of the fault, for sorting; 0 if it has none.
  package let offset: Int

  public var description: String { "\(place): \(message)" }

  /// A place for people.
  package var place: String { Self.place(file: file, position: position, keyPath: keyPath) }

  /// This error with another name of the file.
  package func named(_ file: String) -> PropertyListError {
    var error = self
    error.file = file
    return error
  }

  /// A place for people: `Root.plist:3:5`, in a binary list `Root.plist:PreferenceSpecifiers[3]`.
  package static func place(
    file: String, position: SourcePosition?, keyPath: String?
  ) -> String {
    if let position { return "\(file):\(position)" }
    guard let keyPath else { return file }
    return "\(file):\(keyPath.prefix(80))" + (keyPath.count > 80 ? "…" : "")
  }
}

/// A place in a text file.
public struct SourcePosition: Sendable, Hashable, CustomStringConvertible {
  /// Bytes from the start of the file, including a byte order mark.
  public let offset: Int
  /// From 1. CR, LF and CRLF each are one line break.
  public let line: Int
  /// From 1, in Unicode scalars without a byte order mark.
  public let column: Int

  public var description: String { "\(line):\(column)" }
}

extension PropertyListError {
  /// The kinds of problems.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Code: String, Sendable, CaseIterable {
    // Reading the file.
    case missing, notAFile, permissionDenied, unreadable
    // Another format.
    case empty, notXML, unsupportedEncoding, malformedBinary
    // Characters.
    case invalidUTF8, invalidCharacter, invalidReference
    // Markup.
    case internalSubset, malformedTag, mismatchedTag
    case unexpectedElement, unexpectedText, unexpectedEnd
    // The structure of a property list.
    case missingValue, missingKey, duplicateKey, contentAfterRoot
    // Values.
    case invalidInteger, integerOutOfRange, invalidReal, realOutOfRange
    case invalidBoolean, invalidDate, invalidData
    // Limits.
    case fileTooLarge, tooDeep, tooManyElements, textTooLong, tooManyPanes, panesTooDeep
    // The schema of a Settings bundle.
    case requiredKeyMissing, wrongType, emptyKey, countMismatch, defaultNotAmongValues
    case unsignedTooLarge, invalidPanePath, conflictingDefaults
    // Faults that only `kvsync plist --lint` reports.
    case unknownType, unknownKey

    /// Whether the input exceeds a limit of the caller, and may be valid otherwise.
    var isLimit: Bool {
      [.fileTooLarge, .tooDeep, .tooManyElements, .textTooLong, .tooManyPanes, .panesTooDeep]
        .contains(self)
    }

    /// Whether the file could not be read, whatever its content is.
    package var isOfFile: Bool {
      [.missing, .notAFile, .permissionDenied, .unreadable].contains(self)
    }
  }
}
