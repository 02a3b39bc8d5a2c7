// SPDX-License-Identifier: Apache-2.0
//
// What a program was started with, as settings: Foundation's argument domain. The rules are those
// of `NSArgumentDomain` (https://developer.apple.com/documentation/foundation/userdefaults), with
// three differences: a negative number is a value; `-` alone and what begins with `--` is for
// others; structured values are JSON or XML property lists, not the old style with parentheses.
// What looks like one and is none is text, as there, and `explain` says so.

import KeepsakeSettingsBundle
import KeepsakeValues

/// Settings that were given on the command line: `-volume 5 -name Ada`.
///
/// A pair counts: a dash and a key, then a value that does not begin with a dash unless it is a
/// decimal number. Of two for one key the later counts. What belongs to no pair, every word that
/// begins with `--`, and all that follows the word `--`, is left to the program, in `remaining`.
///
/// A value that begins with `{`, `[` or `"` is JSON, one that begins with `<` an XML property list
/// or an element of one, such as `<true/>`; every other value, and one that only looks like these,
/// is text. A typed `Setting` reads text as its own type, see `Setting`.
public struct LaunchArguments: Sendable {
  /// Those of this process.
  public static let process = LaunchArguments(CommandLine.arguments)

  /// No arguments, whatever the process was started with.
  public static let none = LaunchArguments([])

  /// How a value was written.
  public enum Form: Sendable, Hashable {
    case text, json, propertyList
    /// Text that begins like one of the others, and why it is none.
    case unreadable(String)
  }

  /// One pair.
  struct Argument: Sendable {
    /// The index of the key among the arguments; the program's name has 0.
    let position: Int
    let value: StoredValue
    let form: Form
  }

  let arguments: [ByteText: Argument]

  /// The words that are no settings, in their order, without the program's name: for a parser that
  /// would refuse `-volume 5`.
  public let remaining: [String]

  /// - Parameters:
  ///   - arguments: as `CommandLine.arguments`: the first is the program's name.
  ///   - keys: pairs with other keys are left to the program, such as `-o FILE`.
  public init(_ arguments: [String], keys: KeyFilter = .all) {
    var found: [ByteText: Argument] = [:]
    var remaining: [String] = []
    let end = arguments.dropFirst().firstIndex(of: "--") ?? arguments.count
    var index = 1
    while index < end {
      let (word, next) = (arguments[index], index + 1 < end ? arguments[index + 1] : "-")
      if let key = Self.key(word), keys.contains(key), !next.isDashed || next.isDecimal {
        found[key] = Argument(next, position: index)
        index += 2
      } else {
        remaining.append(word)
        index += 1
      }
    }
    self.arguments = found
    self.remaining = remaining + arguments.dropFirst(Swift.max(index, 1))
  }

  subscript(key: ByteText) -> Argument? { arguments[key] }

  /// The key that a word names; nil for one that names none.
  private static func key(_ word: String) -> ByteText? {
    let bytes = word.utf8
    guard word.isDashed, bytes.count > 1, !bytes.starts(with: "--".utf8), !word.isDecimal else {
      return nil
    }
    return ByteText(String(bytes.dropFirst()) ?? "")
  }
}

extension LaunchArguments.Argument {
  fileprivate init(_ text: String, position: Int) {
    self.position = position
    do {
      switch text.utf8.first {
      case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""):
        (value, form) = (try Self.storable(JSON(parsing: text).storedValue()), .json)
      case UInt8(ascii: "<"):
        (value, form) = (try Self.storable(Self.propertyList(text)), .propertyList)
      default:
        (value, form) = (.string(text), .text)
      }
    } catch {
      let reason = (error as? PropertyListError)?.message ?? "\(error)"
      (value, form) = (.string(text), .unreadable(reason))
    }
  }

  /// - Throws: `ValueError` for what no store could hold.
  private static func storable(_ value: StoredValue) throws -> StoredValue {
    _ = try TaggedCell(value)
    return value
  }

  private static func propertyList(_ text: String) throws -> StoredValue {
    let isWhole = ["<?xml", "<!DOCTYPE", "<plist"].contains { text.utf8.starts(with: $0.utf8) }
    let whole = isWhole ? text : "<plist version=\"1.0\">\(text)</plist>"
    let list = try PropertyList.parse(Array(whole.utf8), file: "argument")
    guard let value = list.root.ifStorable else {
      throw ValueError(.invalid, "it holds what no store can: a larger integer, or too many levels")
    }
    return value
  }

  var isText: Bool {
    switch form {
    case .text, .unreadable: true
    case .json, .propertyList: false
    }
  }
}

extension String {
  fileprivate var isDashed: Bool { utf8.first == UInt8(ascii: "-") }
}
