// SPDX-License-Identifier: Apache-2.0
//
// Lint reads a bundle leniently, to find every fault, then checks rules that no reader enforces, in
// `Lint+Rows.swift`.

package import KeepsakeSettingsBundle
import KeepsakeValues

extension SettingsBundle {
  /// The errors and warnings about a bundle, in the order of its panes and lines.
  ///
  /// Includes variants of files for each kind of device (`Root~ipad.plist`). O(n) in the files.
  ///
  /// - Parameters:
  ///   - path: as for `init(at:mode:idiom:limits:)`.
  ///   - others: the rules whose warnings do not count, of `lintRules`; errors always do.
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
    let folders = Set(readings.flatMap(\.panes).map(\.folder) + [""])
    let names = folders.flatMap { folder.names(in: $0) }
    for idiom in Idiom.allCases
    where names.contains(where: { $0.hasSuffix("~\(idiom.suffix).plist") }) {
      try read(idiom)
    }
    for bundle in readings {
      var lint = Lint(bundle)
      lint.run()
      findings += lint.sorted
    }
    var seen: Set<ByteText> = []
    return findings.filter { finding in
      (finding.severity == .error || !others.contains(finding.rule))
        && seen.insert(ByteText("\(finding)")).inserted
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

extension SettingsPane {
  /// The path of its folder in the bundle, "" for the bundle itself.
  fileprivate var folder: String { file.split(separator: "/").dropLast().joined(separator: "/") }
}

struct Lint {
  let bundle: SettingsBundle
  private var findings: [SettingsBundle.Finding]

  init(_ bundle: SettingsBundle) {
    self.bundle = bundle
    // Strict reading tolerates only these.
    findings = bundle.warnings.map {
      SettingsBundle.Finding(
        severity: [.missing, .emptyKey].contains($0.code) ? .warning : .error, problem: $0)
    }
  }

  mutating func run() {
    for pane in bundle.panes { checkRows(of: pane) }
  }

  /// The findings in the order of the panes, then of other files by name; in a file by place.
  var sorted: [SettingsBundle.Finding] {
    let files = bundle.panes.enumerated().map { (ByteText($0.element.file), $0.offset) }
    let ranks = Dictionary(files) { first, _ in first }
    func rank(_ file: String) -> Int { ranks[ByteText(file)] ?? files.count }
    return findings.sorted {
      let (a, b) = ($0.problem, $1.problem)
      return (rank(a.file), a.file, a.offset, $0.rule) < (rank(b.file), b.file, b.offset, $1.rule)
    }
  }

  mutating func warn(
    _ code: PropertyListError.Code, at offset: Int, in pane: SettingsPane, _ what: String,
    cure: String
  ) {
    let problem = pane.error(Fault(code, at: offset, what, cure: cure))
    findings.append(SettingsBundle.Finding(severity: .warning, problem: problem))
  }
}
