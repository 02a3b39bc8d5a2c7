// SPDX-License-Identifier: Apache-2.0
//
// Launch arguments as settings: Foundation's argument domain. The rules are those
// of `NSArgumentDomain` (https://developer.apple.com/documentation/foundation/userdefaults), with
// three differences: a negative number is a value; `-` alone and words that begin with `--` are
// left to the program; structured values are JSON, not property lists. Invalid JSON is text.

import KeepsakeValues

/// Settings that were given on the command line: `-volume 5 -name Ada`.
///
/// A pair counts: a dash and a key, then a value that does not begin with a dash unless it is a
/// decimal number. Of two for one key the later counts. What belongs to no pair, every word that
/// begins with `--`, and all that follows the word `--`, is left to the program, in `remaining`.
///
/// A value that begins with `{`, `[` or `"` is JSON; every other value, and one that only looks
/// like JSON, is text. A typed `Setting` reads text as its own type, see `Setting`.
public struct LaunchArguments: Sendable {
  /// Those of this process.
  public static let process = LaunchArguments(CommandLine.arguments)

  /// No arguments, whatever the process was started with.
  public static let none = LaunchArguments([])

  /// One pair.
  struct Argument: Sendable {
    /// The index of the key among the arguments; the program's name has 0.
    let position: Int
    let value: StoredValue
    let isText: Bool
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

  /// The key in a word such as `-volume`; nil for other words.
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
    let json = Self.json(text)
    (value, isText) = (json ?? .string(text), json == nil)
  }

  /// - Returns: nil for text that is no JSON, or none that a store could hold.
  private static func json(_ text: String) -> StoredValue? {
    guard let first = text.utf8.first, "{[\"".utf8.contains(first) else { return nil }
    do {
      let value = try JSON(parsing: text).storedValue()
      _ = try TaggedCell(value)
      return value
    } catch {
      return nil
    }
  }
}

extension String {
  fileprivate var isDashed: Bool { utf8.first == UInt8(ascii: "-") }
}
