// SPDX-License-Identifier: Apache-2.0
//
// Lint reads a bundle leniently, to find every fault, then checks rules that no reader enforces.

package import KeepsakeSettingsBundle
import KeepsakeValues

extension SettingsBundle {
  /// The errors and warnings about a bundle, in the order of its panes and lines.
  ///
  /// Includes variants of files for each kind of device (`Root~ipad.plist`). O(n) in the files.
  ///
  /// - Parameters:
  ///   - path: as for `init(at:mode:idiom:limits:)`.
  ///   - others: the rules, of `lintRules`, whose warnings are left out; errors never are.
  /// - Returns: one finding for each place and rule. A malformed `Root.plist` is one finding.
  /// - Throws: `PropertyListError` when a file cannot be read.
  package static func lint(
    at path: String, leavingOut others: Set<String> = []
  ) throws(PropertyListError) -> [Finding] {
    let folder = try BundleFolder.open(path).0
    var findings: [Finding] = []
    var readings: [SettingsBundle] = []
    func read(_ idiom: Idiom?) throws(PropertyListError) {
      do throws(PropertyListError) {
        readings.append(try SettingsBundle(at: path, mode: .lenient, idiom: idiom))
      } catch {
        guard !error.code.isOfFile else { throw error }
        let file = error.file.utf8.dropFirst(folder.shownPath("").utf8.count)
        let problem = error.named(String(decoding: file, as: UTF8.self))
        findings.append(Finding(severity: .error, problem: problem))
      }
    }
    try read(nil)
    // Without variants, all devices read the same files.
    let folders = readings.flatMap(\.panes).map { pane in
      pane.file.split(separator: "/").dropLast().joined(separator: "/")
    }
    let names = Set(folders + [""]).flatMap { folder.names(in: $0) }
    for idiom in Idiom.allCases
    where names.contains(where: { $0.hasSuffix("~\(idiom.suffix).plist") }) {
      try read(idiom)
    }
    findings += readings.flatMap { BundleLinter($0).sorted }
    var seen: Set<ByteText> = []
    return findings.filter { finding in
      (finding.severity == .error || !others.contains(finding.rule))
        && seen.insert(ByteText("\(finding)")).inserted
    }
  }

  /// Prefixes `path` to a path within the bundle there, or to a text that starts with one.
  package static func shownPath(
    of file: String, at path: String
  ) throws(PropertyListError) -> String {
    try BundleFolder.open(path).0.shownPath(file)
  }
}

private struct BundleLinter {
  private let panes: [SettingsPane]
  private var findings: [SettingsBundle.Finding]

  init(_ bundle: SettingsBundle) {
    panes = bundle.panes
    // Strict reading accepts only these.
    findings = bundle.warnings.map {
      SettingsBundle.Finding(
        severity: [.missing, .emptyKey].contains($0.code) ? .warning : .error, problem: $0)
    }
    for pane in panes { checkRows(of: pane) }
  }

  /// The findings in the order of the panes, then of other files by name; in a file by place.
  var sorted: [SettingsBundle.Finding] {
    let files = panes.enumerated().map { (ByteText($0.element.file), $0.offset) }
    let ranks = Dictionary(files) { first, _ in first }
    func rank(_ file: String) -> Int { ranks[ByteText(file)] ?? files.count }
    return findings.sorted {
      let (a, b) = ($0.problem, $1.problem)
      return (rank(a.file), a.file, a.offset, $0.rule) < (rank(b.file), b.file, b.offset, $1.rule)
    }
  }

  private mutating func warn(
    _ code: PropertyListError.Code, at offset: Int, in pane: SettingsPane, _ what: String,
    cure: String
  ) {
    let problem = pane.error(Fault(code, at: offset, what, cure: cure))
    findings.append(SettingsBundle.Finding(severity: .warning, problem: problem))
  }

  private mutating func checkRows(of pane: SettingsPane) {
    checkKeys(of: pane.root, among: LintSchema.paneKeys, owner: "a pane", in: pane)
    for specifier in pane.specifiers where specifier.kind != .malformed {
      if case .other(let type) = specifier.kind, let node = specifier.node["Type"] {
        warn(
          .unknownType, at: Int(node.offset), in: pane,
          "the Settings app does not show rows of type \(type.quoted)",
          cure: "use one of its types, or ignore this if another program shows the row")
      }
      if let keys = LintSchema.keys(of: specifier.kind) {
        checkKeys(of: specifier.node, among: keys, owner: "a \(specifier.kind.name)", in: pane)
      }
    }
  }

  private mutating func checkKeys(
    of node: PropertyListNode, among known: Set<String>, owner: String, in pane: SettingsPane
  ) {
    // The keys of a flat table are the user's.
    guard node["PreferenceSpecifiers"] != nil || node["Type"] != nil else { return }
    for member in node.members ?? [] where !known.contains(where: member.key.isSameBytes) {
      // InAppSettingsKit reads the same files and prefixes its own keys.
      if member.key.hasPrefix("IASK") { continue }
      let similar = known.sorted().first { $0.lowercased() == member.key.lowercased() }
      warn(
        .unknownKey, at: Int(member.keyOffset), in: pane,
        "\(owner) has no key \(member.key.quoted)",
        cure: similar.map { "write \($0)" } ?? "remove it")
    }
  }
}

// MARK: - Findings

extension SettingsBundle {
  /// An error or a warning at a place in a bundle.
  package struct Finding: Sendable, CustomStringConvertible {
    package enum Severity: String, Sendable {
      /// Strict reading succeeds, but the Settings app may not show what the author meant.
      case warning
      /// Strict reading throws.
      case error
    }

    package let severity: Severity
    /// Its file is the path in the bundle, such as `Root.plist`.
    package let problem: PropertyListError

    /// The rule's name, such as `unknown-key`; part of kvsync's output format.
    package var rule: String { problem.code.rule }

    /// `file:line:column: severity: message [rule]`, in a binary property list `file:key path: …`.
    package var description: String {
      "\(problem.place): \(severity.rawValue): \(problem.message) [\(rule)]"
    }
  }

  /// The rules whose warnings can be left out. Faults that strict reading rejects are errors.
  package static let lintRules = [
    PropertyListError.Code.unknownType, .unknownKey, .emptyKey, .missing,
  ].map(\.rule)
}

extension PropertyListError.Code {
  /// The name of the rule that a fault with this code breaks.
  fileprivate var rule: String {
    rawValue.map { $0.isUppercase ? "-\($0.lowercased())" : String($0) }.joined()
  }
}
