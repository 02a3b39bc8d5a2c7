// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// The commands that work on a device file.
enum FileCommand: String, CaseIterable {
  case get, list, set, delete, `import`, seed
  case mergeFirst, mergeLast, mergeOneWayFirst, mergeOneWayLast, mergeDryRun

  /// Those that make a missing file.
  static let makers: [FileCommand] = [.set, .import, .seed]
  static let readers: [FileCommand] = [.get, .list, .mergeOneWayFirst, .mergeDryRun]
  static let merges = allCases.filter { $0.rawValue.hasPrefix("merge") }

  /// The command line on a file, in a folder with `good`, `lines` and `table.plist`.
  func arguments(_ file: String) -> [String] {
    switch self {
    case .get: ["get", file, "k"]
    case .list: ["list", file, "--json"]
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
}

extension Folder {
  /// A folder with a device file `good` and what the commands read.
  static func furnished() throws -> Folder {
    let folder = try Folder()
    try folder.must("set", "good", "k", "v", Moment.ten.argument)
    try folder.write(#"{"key":"k","type":"integer","value":1}"#, to: "lines")
    try folder.write(defaultsTable, to: "table.plist")
    return folder
  }

  /// What all regular files in it hold, byte by byte, and the names of the others.
  func everything() throws -> String {
    let names = try names()
    let files = names.filter {
      var isFolder: ObjCBool = false
      let isThere = FileManager.default.fileExists(atPath: "\(path)/\($0)", isDirectory: &isFolder)
      return isThere && !isFolder.boolValue && !$0.hasSuffix(".fifo")
    }
    return try "\(names)\n" + Command.run(Command.find("sha256sum"), files, in: path).stdout
  }

  /// Runs each command on a file that it has to refuse, and expects everything to stay as it was.
  ///
  /// - Parameters:
  ///   - complaint: what follows `kvsync: <path>: `.
  func expectRefusal(
    of file: String, by commands: [FileCommand] = FileCommand.allCases, _ complaint: String,
    code: Int32, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let before = try everything()
    for command in commands {
      let ending = try run(command.arguments(file) + ["--busy-timeout", "50ms"])
      #expect(
        ending == Ending(stderr: "kvsync: \(file): \(complaint)\n", code: code), "\(command)",
        sourceLocation: sourceLocation)
    }
    #expect(try everything() == before, sourceLocation: sourceLocation)
  }

  /// The same where the words come from SQLite.
  func expectDamage(
    of file: String, by commands: [FileCommand], sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let before = try everything()
    for command in commands {
      let ending = try run(command.arguments(file))
      let lines = ending.stderr.split(separator: "\n", omittingEmptySubsequences: false)
      #expect(ending.code == 65, "\(command) \(ending)", sourceLocation: sourceLocation)
      #expect(ending.stdout == "", "\(command) \(ending)", sourceLocation: sourceLocation)
      #expect(
        lines.count == 2 && lines[1] == "" && lines[0].hasPrefix("kvsync: \(file): ")
          && lines[0].contains("; "), "\(command) \(ending)", sourceLocation: sourceLocation)
    }
    #expect(try everything() == before, sourceLocation: sourceLocation)
  }
}
