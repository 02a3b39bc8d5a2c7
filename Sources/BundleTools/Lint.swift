// SPDX-License-Identifier: Apache-2.0
//
// Lint reads a bundle leniently, to find every fault, then checks rules that no reader enforces:
// for rows in `Lint+Rows.swift`, for panes and files in `Lint+Panes.swift`, for translations in
// `Lint+Strings.swift`.

package import KeepsakeSettingsBundle
import KeepsakeValues

extension SettingsBundle {
  /// The errors and warnings about a bundle, in the order of its panes and lines.
  ///
  /// Includes variants of files for each kind of device (`Root~ipad.plist`). O(n) in the files.
  ///
  /// - Parameter path: as for `init(at:mode:idiom:limits:)`.
  /// - Returns: one finding for each place and rule. A malformed `Root.plist` is one finding.
  /// - Throws: `PropertyListError` when a file cannot be read.
  package static func lint(
    at path: String, limits: Limits = Limits()
  ) throws(PropertyListError) -> [Finding] {
    let folder = try BundleFolder.open(path).0
    var findings = try read(path, nil, limits)
    // Without variants, all devices read the same files.
    let folders = Set(findings.bundles.flatMap(\.panes).map(\.folder) + [""])
    let names = folders.flatMap { folder.names(in: $0) }
    for idiom in Idiom.allCases
    where names.contains(where: { $0.hasSuffix("~\(idiom.suffix).plist") }) {
      let more = try read(path, idiom, limits)
      findings.bundles += more.bundles
      findings.found += more.found
    }
    var seen: Set<Finding> = []
    return (findings.found + Lint.unreferencedFiles(in: findings.bundles))
      .filter { seen.insert($0).inserted }
  }

  private static func read(
    _ path: String, _ idiom: Idiom?, _ limits: Limits
  ) throws(PropertyListError) -> (found: [Finding], bundles: [SettingsBundle]) {
    do throws(PropertyListError) {
      let bundle = try SettingsBundle(forLintAt: path, idiom: idiom, limits: limits)
      var lint = Lint(bundle)
      lint.run()
      return (lint.sorted, [bundle])
    } catch {
      guard error.position != nil else { throw error }
      let (folder, _) = try BundleFolder.open(path)
      let file = error.file.utf8.dropFirst(folder.shownPath("").utf8.count)
      let warning = Warning(error, file: String(decoding: file, as: UTF8.self))
      return ([Finding(warning, .error)], [])
    }
  }

  /// A path within the bundle at `path`, or a text that starts with one, prefixed by the caller's
  /// path.
  package static func shownPath(
    of file: String, at path: String
  ) throws(PropertyListError) -> String {
    try BundleFolder.open(path).0.shownPath(file)
  }
}

struct Lint {
  let bundle: SettingsBundle
  private var findings: [SettingsBundle.Finding]

  init(_ bundle: SettingsBundle) {
    self.bundle = bundle
    // Strict reading tolerates only these.
    findings = bundle.warnings.map {
      SettingsBundle.Finding($0, [.missing, .emptyKey].contains($0.code) ? .warning : .error)
    }
  }

  mutating func run() {
    for pane in bundle.panes { checkRows(of: pane) }
    checkKeys()
    checkPanes()
    checkStrings()
  }

  /// The findings in the order of the panes, then of other files by name; in a file by place.
  var sorted: [SettingsBundle.Finding] {
    let files = bundle.panes.enumerated().map { (ByteText($0.element.file), $0.offset) }
    let ranks = Dictionary(files) { first, _ in first }
    func rank(_ file: String) -> Int { ranks[ByteText(file)] ?? files.count }
    return findings.sorted {
      (rank($0.file), $0.file, $0.line, $0.column, $0.rule)
        < (rank($1.file), $1.file, $1.line, $1.column, $1.rule)
    }
  }

  mutating func warn(
    _ rule: LintRule, at offset: Int, in pane: SettingsPane, _ what: String, cure: String
  ) {
    warn(rule, in: pane.file, pane.map.position(of: offset), "\(what); \(cure)")
  }

  mutating func warn(
    _ rule: LintRule, in file: String, _ place: SourcePosition?, _ message: String
  ) {
    findings.append(
      SettingsBundle.Finding(
        severity: .warning, rule: rule.rawValue, file: file, line: place?.line ?? 1,
        column: place?.column ?? 1, message: message))
  }

  /// Adds a fault of a file that does not affect defaults.
  mutating func add(_ warning: SettingsBundle.Warning) {
    findings.append(SettingsBundle.Finding(warning, .warning))
  }
}
