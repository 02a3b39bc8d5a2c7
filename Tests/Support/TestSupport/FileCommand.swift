// SPDX-License-Identifier: Apache-2.0

/// The commands that work on a device file, each in one form.
public enum FileCommand: String, CaseIterable, Sendable {
  case get, list, export, explain, conflicts, peers, doctor, clone, diffFirst, diffLast, watch
  case mergeOneWayFirst, mergeDryRun
  case set, `import`, seed
  case delete, restore, repair, compact
  case mergeFirst, mergeLast, mergeOneWayLast

  /// All of them in a release build; a part in a debug build, where each process takes longer.
  public static let sample = Seeds.some(of: allCases, debug: 3)
  /// Those that make a missing file.
  public static let makers: [FileCommand] = [.set, .import, .seed]
  /// Those that only read it, and come to an end.
  public static let readers: [FileCommand] = [
    .get, .list, .export, .explain, .conflicts, .peers, .doctor, .clone, .diffFirst, .diffLast,
    .mergeOneWayFirst, .mergeDryRun,
  ]
  public static let merges = allCases.filter { $0.rawValue.hasPrefix("merge") }
  public static let writers = allCases.filter { !readers.contains($0) && $0 != .watch }

  /// The command line on a file, in a folder with `good`, `lines` and `table.plist`.
  public func arguments(_ file: String) -> [String] {
    switch self {
    case .get: ["get", file, "k"]
    case .list: ["list", file, "--json"]
    case .export: ["export", file]
    case .explain: ["explain", file, "k"]
    case .conflicts: ["conflicts", file]
    case .restore: ["conflicts", file, "--restore", "1"]
    case .peers: ["peers", file]
    // Quiet, or it says which SQLite it uses.
    case .doctor: ["doctor", file, "--quiet"]
    case .repair: ["doctor", file, "--repair"]
    case .clone: ["clone", file, "cloned"]
    case .compact: ["compact", file]
    case .diffFirst: ["diff", file, "good"]
    case .diffLast: ["diff", "good", file, "--json"]
    case .watch: ["watch", file]
    case .set: ["set", file, "k", "new"]
    case .delete: ["delete", file, "k"]
    case .import: ["import", file, "lines"]
    case .seed: ["seed", file, "table.plist"]
    case .mergeFirst: ["merge", file, "good"]
    case .mergeLast: ["merge", "good", file, "--json"]
    case .mergeOneWayFirst: ["merge", file, "good", "--one-way"]
    case .mergeOneWayLast: ["merge", "good", file, "--one-way"]
    case .mergeDryRun: ["merge", "good", file, "--dry-run"]
    }
  }

  /// Whether it ends with 1 when the answer is "no".
  public var mayAnswerNo: Bool { [.get, .doctor, .repair, .diffFirst, .diffLast].contains(self) }

  /// Whether what it names by its number may be gone with the damage.
  public var mayNameNothing: Bool { self == .restore }
}
