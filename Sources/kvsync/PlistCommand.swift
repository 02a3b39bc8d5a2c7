// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeFormats
import KeepsakeSettingsBundle
import KeepsakeValues

struct PlistCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "plist",
    abstract: "Prints a property list, or what a Settings bundle shows, or what is wrong with it.",
    discussion: """
      --lint prints each finding as file:line:column: warning|error: what; cure [rule], and exits \
      with 1. When strict reading would refuse the bundle it exits with 65, prints nothing and \
      reports the first error; with --lenient it lists that with all others. In a binary property \
      list the key path stands in for line and column.

      Its rules, of which --disable takes names; what strict reading refuses is always an error:

        \(rules)

        kvsync plist Settings.bundle --describe
        kvsync plist Settings.bundle --lint
        kvsync plist Settings.bundle --lint --disable unknown-type
        kvsync plist Root.plist --json
      """)

  enum Idiom: String, CaseIterable, ExpressibleByArgument {
    case phone, pad

    var idiom: SettingsBundle.Idiom { self == .phone ? .phone : .pad }
  }

  @Argument(help: "A property list, or a Settings.bundle.", completion: .file())
  var path: String
  @Flag(help: "List what is wrong or doubtful in a Settings bundle.") var lint = false
  @Option(
    help: ArgumentHelp(
      "With --lint: the rules to leave out (repeatable).", valueName: "rule[,rule]"))
  var disable: [String] = []
  @Flag(help: "Print a Settings bundle as the Settings app shows it.") var describe = false
  @Flag(help: "With --lint: list errors like warnings.") var lenient = false
  @Option(help: "With --describe: the device whose files and rows count. (default: any)")
  var idiom: Idiom?
  @OptionGroup var common: CommonOptions

  func run() throws {
    try checkOptions()
    if lint { return try printFindings() }
    if describe { return try printOutline() }
    let list = try PropertyList.read(at: path, limits: .generous)
    try common.output.print(
      try list.root.json(), lines: try list.root.lines().map { OutputLine($0) }, isData: true)
  }

  private func checkOptions() throws {
    if lint && describe {
      throw InputError.usage("\(path): --lint and --describe are two questions; ask one")
    }
    if lenient && !lint {
      throw InputError.usage("\(path): --lenient belongs to --lint; add that, or leave it out")
    }
    if !lint, !disable.isEmpty {
      throw InputError.usage("\(path): --disable belongs to --lint; add that, or leave it out")
    }
    if !describe, idiom != nil {
      throw InputError.usage(
        "\(path): --idiom belongs to --describe; add that, or leave it out")
    }
  }

  private func printOutline() throws {
    let bundle = try SettingsBundle(at: path, mode: .lenient, idiom: idiom?.idiom)
    sayIfFlat(bundle)
    common.output.warn(bundle.warnings.map { bundle.shownPath($0.description) })
    let outline = bundle.outline(idiom: idiom?.idiom)
    try common.output.print(
      try outline.json(), lines: try outline.lines(named: bundle.identifier).map { OutputLine($0) },
      isData: true)
  }

  /// A bundle with errors is a failure: stdout stays empty, and stderr has one line. With --lenient
  /// its findings are the output, and the exit code is 1.
  private func printFindings() throws {
    let findings = try SettingsBundle.lint(at: path, leavingOut: try disabledRules())
    let errors = findings.filter { $0.severity == .error }
    if let first = errors.first, !lenient {
      let others = findings.count - 1
      throw InputError(
        kind: .data,
        message: try SettingsBundle.shownPath(of: first.description, at: path)
          + (others == 0 ? "" : "; \(others) more with --lenient"))
    }
    try common.output.print(
      .array(findings.map(Self.json)),
      lines: try findings.map {
        OutputLine(try SettingsBundle.shownPath(of: $0.description, at: path))
      },
      isData: true)
    guard findings.isEmpty else { throw NegativeAnswer(message: nil) }
    sayIfFlat(try SettingsBundle(at: path, mode: .lenient))
  }

  private static let rules = SettingsBundle.lintRules.joined(separator: ", ")

  private func disabledRules() throws -> Set<String> {
    let names = disable.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
    for name in names where !SettingsBundle.lintRules.contains(String(name)) {
      throw InputError.usage(
        "\(path): there is no rule \(EscapedJSON(json: .string(String(name)))); use \(Self.rules)")
    }
    return Set(names.map(String.init))
  }

  /// A table of defaults has no findings, but the user may have meant a pane.
  private func sayIfFlat(_ bundle: SettingsBundle) {
    guard bundle.isFlatTable else { return }
    common.output.say(
      "\(path): it has no PreferenceSpecifiers, "
        + "so it was read as a table of defaults, not as a pane")
  }

  private static func json(_ finding: SettingsBundle.Finding) -> JSON {
    .object(
      JSON.place(of: finding.problem) + [
        JSON.Member("severity", .string(finding.severity.rawValue)),
        JSON.Member("rule", .string(finding.rule)),
        JSON.Member("message", .string(finding.problem.message)),
      ])
  }
}
