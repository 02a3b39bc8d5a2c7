// SPDX-License-Identifier: Apache-2.0

import CSQLite
import Foundation

/// A run of all groups, or of some.
struct Run {
  private struct Group: Sendable {
    let name, note: String
    let run: @Sendable (Report) -> Void
  }

  private static let groups = [
    Group(
      name: "read", note: "One read of a setting that was read before.", run: reads),
    Group(
      name: "set",
      note: "One set, and the same where nothing is lost if the process dies; a set that is synced "
        + "also survives a power failure. The JSON file is a dictionary, which each set writes "
        + "whole; Foundation's .atomic syncs it. The written bytes are those of write calls, wchar "
        + "in /proc/self/io.", run: writes),
    Group(
      name: "threads", note: "What one operation costs, of all threads together.",
      run: manyThreads),
    Group(
      name: "open",
      note: "Opening what was opened before, and what a process keeps in memory. GRDB and SQLite "
        + "read the same file.", run: opens),
    Group(
      name: "process", note: "Two processes have one file open.", run: processes),
    Group(
      name: "observe", note: "One process observes; itself or another one sets.", run: observing),
    Group(name: "stores", note: "Many stores on one device, a key in each.", run: manyStores),
    Group(
      name: "merge",
      note: "First merges with opening and closing the files. The same without Keepsake: prepared "
        + "statements of SQLite, which check nothing and keep no conflict.", run: merges),
    Group(
      name: "hub",
      note: "A hub over HTTP without TLS on this machine. Every push is safe from a power cut "
        + "before it is acknowledged; pushes that wait share one fsync.",
      run: hubs),
    Group(
      name: "container", note: "Look-ups among 1,024 other registrations.", run: containers),
    Group(name: "plist", note: "A Settings bundle's file.", run: propertyLists),
    Group(
      name: "command",
      note: "Whole processes, from the start to the end; of a list to its first line.",
      run: commands),
    Group(
      name: "large",
      note: "A file of many keys beside one of 1,000: the ratio is the growth. A whole run leaves "
        + "this out unless it has --large.", run: large),
  ]

  private var filters: [String] = []
  private var output: String?
  private let command: String

  /// `Scripts/benchmark` explains the options.
  init(_ words: [String]) throws {
    command = (["Scripts/benchmark"] + words).joined(separator: " ")
    var words = words[...]
    while let word = words.popFirst() {
      switch word {
      case "--quick", "--large": break
      case "--filter", "--output":
        guard let value = words.popFirst() else { throw Failure("\(word) needs a value") }
        if word == "--output" { output = value } else { filters.append(value) }
      default: throw Failure("unknown argument \(word)")
      }
    }
    let names = Self.groups.map(\.name)
    for filter in filters where !names.contains(filter) {
      throw Failure("there is no group \(filter), only \(names.joined(separator: ", "))")
    }
    if filters.isEmpty, !Scale.isQuick, output == nil { output = "Benchmarks" }
  }

  func toItsEnd() throws {
    try Files.begin()
    defer {
      do { try Files.end() } catch { print(error) }
    }
    let (report, start) = (Report(), now())
    for line in machine { report.say(line) }
    for group in Self.groups where isChosen(group) {
      report.begin(group.name, group.note)
      group.run(report)
    }
    let load = loadAverage
    report.say("\nThe run took \((now() - start) / 1_000_000_000) s; load at its end \(load).")
    if let output { try write(report, to: output) }
    guard report.failed.isEmpty else {
      throw Failure("these rows failed: \(report.failed.joined(separator: "; "))")
    }
  }

  private func isChosen(_ group: Group) -> Bool {
    if group.name == "large", Scale.isLarge { return true }
    if filters.isEmpty { return group.name != "large" || Scale.isQuick }
    return filters.contains(group.name)
  }

  private func write(_ report: Report, to folder: String) throws {
    var text = report.lines.joined(separator: "\n") + "\n"
    if !report.plots.isEmpty { text += "\n### Growth\n\n" }
    let plots = folder + "/plots"
    try FileManager.default.createDirectory(atPath: plots, withIntermediateDirectories: true)
    for plot in report.plots {
      try plot.svg.write(toFile: "\(plots)/\(plot.fileName)", atomically: true, encoding: .utf8)
      text += "![\(plot.caption)](plots/\(plot.fileName))\n\n"
    }
    try text.write(toFile: folder + "/results.md", atomically: true, encoding: .utf8)
    print("\(folder)/results.md and \(report.plots.count) plots are written.")
  }

  private var machine: [String] {
    func file(_ path: String) -> String {
      do { return try String(contentsOfFile: path, encoding: .utf8) } catch { return "" }
    }
    func value(_ text: String, _ name: String) -> String {
      let line = text.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
      return line.dropFirst(name.count).trimmingCharacters(in: .init(charactersIn: "\t :=\""))
    }
    let processor = value(file("/proc/cpuinfo"), "model name")
    let memory = Double(ProcessInfo.processInfo.physicalMemory) / 1e9
    let swift = ProcessInfo.processInfo.environment["SWIFT_VERSION"] ?? "unknown Swift"
    return [
      "# Results\n",
      "- `\(command)`, \(Date().formatted(.iso8601))",
      "- \(ProcessInfo.processInfo.activeProcessorCount) processors (\(processor)), "
        + "\(Report.number(memory)) GB; \(value(file("/etc/os-release"), "PRETTY_NAME")), "
        + "Linux \(file("/proc/sys/kernel/osrelease").trimmingCharacters(in: .newlines)); "
        + "\(swift), SQLite \(String(cString: sqlite3_libversion()))",
      "- files on \(fileSystem); load when it began \(loadAverage)\n",
      """
      Medians, with quartiles in parentheses, of rounds in which all who are compared take turns. \
      The ratio is Keepsake's cost by the other's in the same round: above 1 Keepsake is slower. \
      Compare rows of one run only.
      """,
    ]
  }

  /// Where one that is in memory alone, a synced set says nothing.
  private var fileSystem: String {
    do {
      return try Command.run([Command.find("stat"), "-f", "-c", "%T", NSTemporaryDirectory()])
    } catch { return "\(error)" }
  }

  private var loadAverage: String {
    do {
      let text = try String(contentsOfFile: "/proc/loadavg", encoding: .utf8)
      return String(text.prefix { $0 != " " })
    } catch { return "unknown" }
  }
}
