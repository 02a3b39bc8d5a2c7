// SPDX-License-Identifier: Apache-2.0
//
// Launch arguments as settings, as in Foundation's argument domain. The rules are those of
// `NSArgumentDomain` (https://developer.apple.com/documentation/foundation/userdefaults), with
// three differences: a negative number is a value; `-` alone and words that begin with `--` are not
// settings; structured values are JSON, not property lists. Invalid JSON is text.

import KeepsakeValues

/// Settings that were given on the command line: `-volume 5 -name Ada`.
///
/// A setting is a pair: a dash and a key, then a value that does not begin with a dash unless it is
/// a decimal number. If a key occurs twice, the later pair counts. Words outside of pairs, words
/// that begin with `--`, and everything after the word `--` are in `remaining`.
///
/// A value that begins with `{`, `[` or `"` is JSON; every other value, and invalid JSON, is text.
/// A typed `Setting` reads text as its own type, see `Setting`.
public struct LaunchArguments: Sendable {
  /// The arguments of this process.
  public static let process = LaunchArguments(CommandLine.arguments)

  /// No arguments, even if the process has some.
  public static let none = LaunchArguments([])

  let values: [ByteText: ValueInForce]

  /// The words that are no settings, in their order, without the program's name: for the program's
  /// own parser, which would reject `-volume 5`.
  public let remaining: [String]

  /// - Parameters:
  ///   - arguments: as `CommandLine.arguments`: the first is the program's name.
  ///   - keys: pairs with other keys, such as `-o FILE`, are not settings but `remaining` words.
  public init(_ arguments: [String], keys: KeyFilter = .all) {
    var values: [ByteText: ValueInForce] = [:]
    var remaining: [String] = []
    let end = arguments.dropFirst().firstIndex(of: "--") ?? arguments.count
    var index = 1
    while index < end {
      let (word, next) = (arguments[index], index + 1 < end ? arguments[index + 1] : "-")
      if let key = Self.key(word), keys.contains(key), !next.isDashed || next.isDecimal {
        values[key] = ValueInForce(argument: next, at: index, json: Self.json(next))
        index += 2
      } else {
        remaining.append(word)
        index += 1
      }
    }
    self.values = values
    self.remaining = remaining + arguments.dropFirst(Swift.max(index, 1))
  }

  /// The key in a word such as `-volume`; nil for other words.
  private static func key(_ word: String) -> ByteText? {
    let bytes = word.utf8
    guard word.isDashed, bytes.count > 1, !bytes.starts(with: "--".utf8), !word.isDecimal else {
      return nil
    }
    return ByteText(String(bytes.dropFirst()) ?? "")
  }

  /// The value of a JSON text; nil for other text, and for a value that no store can hold.
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
