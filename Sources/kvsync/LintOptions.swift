// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeFormats
import KeepsakeValues

/// Which rules `plist --lint` checks.
struct LintOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "With --lint: the rules to check, in place of all (repeatable).",
      valueName: "rule[,rule]"))
  var rules: [String] = []
  @Option(
    help: ArgumentHelp(
      "With --lint: the rules to leave out (repeatable).", valueName: "rule[,rule]"))
  var disable: [String] = []

  var isEmpty: Bool { rules.isEmpty && disable.isEmpty }

  /// - Throws: `InputError` with the words that there are, for one that there is not.
  func selected(_ path: String) throws -> Set<LintRule> {
    let wanted = rules.isEmpty ? Set(LintRule.allCases) : try Self.rules(rules, path)
    return wanted.subtracting(try Self.rules(disable, path))
  }

  private static func rules(_ options: [String], _ path: String) throws -> Set<LintRule> {
    var rules: Set<LintRule> = []
    for option in options {
      for word in option.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
        guard let named = LintRule.named(word) else {
          throw InputError.usage(
            "\(path): there is no rule \(Quoted(.string(word))); "
              + "use \(words.joined(separator: ", "))")
        }
        rules.formUnion(named)
      }
    }
    return rules
  }

  private static let words =
    LintRule.Group.allCases.map(\.rawValue) + LintRule.allCases.map(\.rawValue)

  /// The rules by group, for help.
  static var list: String {
    let groups = LintRule.Group.allCases.map { group in
      "  \(group.rawValue): " + group.rules.map(\.rawValue).joined(separator: ", ")
    }
    return "Its rules, of which --rules and --disable take names and groups; what strict reading"
      + " refuses is always an error:\n\n"
      + groups.joined(separator: "\n\n")
  }
}
