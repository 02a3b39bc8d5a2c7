// SPDX-License-Identifier: Apache-2.0

/// Why a property list or a Settings bundle was refused, and where.
///
/// `description` is one line, `file:line:column: what is wrong; what to do`. It names keys and
/// types, and where a default does not fit its row that default, except of a secure text field.
public struct PropertyListError: Error, Sendable, CustomStringConvertible {
  /// What is wrong, for programs.
  public let code: Code
  /// The path of the file, as far as the caller gave it.
  public let file: String
  /// The place in the file; nil if the file could not be read at all.
  public let position: SourcePosition?
  /// The members that lead to the place, such as `PreferenceSpecifiers[3].DefaultValue`; nil at the
  /// root and outside it.
  public let keyPath: String?
  /// What is wrong and what to do, without the place.
  public let message: String
  /// The error of the operating system, when reading failed.
  public let cause: (any Error)?

  public var description: String {
    guard let position else { return "\(file): \(message)" }
    return "\(file):\(position): \(message)"
  }
}

/// A place in a text file.
public struct SourcePosition: Sendable, Hashable, CustomStringConvertible {
  /// Bytes from the start of the file, a byte order mark included.
  public let offset: Int
  /// Counted from 1. CR, LF and CRLF are one line break each.
  public let line: Int
  /// Counted from 1, in Unicode scalars; a byte order mark does not count.
  public let column: Int

  public var description: String { "\(line):\(column)" }
}

extension PropertyListError {
  /// The kinds of trouble.
  public enum Code: String, Sendable, CaseIterable {
    // Reading the file.
    case missing, notAFile, permissionDenied, unreadable
    // Another format.
    case empty, binaryFormat, gitLFSPointer, notXML, unsupportedEncoding, malformedBinary
    // Characters.
    case invalidUTF8, invalidCharacter, invalidReference
    // Markup.
    case malformedDeclaration, malformedDoctype, internalSubset, malformedComment
    case malformedInstruction, malformedTag, mismatchedTag
    case unexpectedAttribute, unexpectedElement, unexpectedText, unexpectedEnd
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
    // Translations.
    case malformedStrings

    /// Whether something is not wrong, only more than the caller allows.
    var isLimit: Bool {
      switch self {
      case .fileTooLarge, .tooDeep, .tooManyElements, .textTooLong, .tooManyPanes, .panesTooDeep:
        true
      default: false
      }
    }
  }
}
