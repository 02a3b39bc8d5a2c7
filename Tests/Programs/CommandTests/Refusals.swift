// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

// The commands of `FileCommand` are the rows of a table that tests fill in:
//
// | what is wrong | tests |
// | --- | --- |
// | missing, foreign, empty, a folder, a pipe, a link to nowhere, newer | `BadFileTests` |
// | an old log in the place of a new file | `OrphanedLogTests` |
// | cut short, damaged pages, odd rows | `DamageTests`, `DamagedPageTests` |
// | read-only file or folder, with and without a log | `AccessTests`, `LiveLogTests` |
// | locked | `LockTests` |
// | the same file twice | `BadFileTests`, `UpkeepTests` for a clone |
// | a full disk, a full temporary folder | `FullDiskTests` |
// | output that nobody gets, input that is not there | `OutputTests` |
// | options, numbers, times; words that are not UTF-8 | `UsageTests`, `OptionTests` |
// | values of another type, bad lines, bad lists | `ValueTests`, `ImportTests`, `SeedTests` |
// | odd and long names; large values | `OddNameTests`, `ValueLimitTests` |
// | killed | `KillRoundTests`, `DraftTests` |
// | pages without end | `EndlessFileTests` |

extension Folder {
  /// A folder with a device file `good` and what the commands read.
  static func furnished() throws -> Folder {
    let folder = try Folder()
    try folder.furnish()
    return folder
  }

  /// A device file with one entry. One is enough for a process: each folder has a copy.
  private static let good = Result {
    let folder = try Folder()
    try folder.must("set", "good", "k", "v", Moment.ten.argument)
    return try Data(contentsOf: folder.url("good"))
  }

  func furnish() throws {
    try Self.good.get().write(to: url("good"))
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o600], ofItemAtPath: url("good").path)
    try write(#"{"key":"k","type":"integer","value":1}"#, to: "lines")
    try write(defaultsTable, to: "table.plist")
  }

  /// The files of `FileCommand.restore`, and a peer.
  func addPeerAndConflict(to file: String) throws {
    try shell(
      "sqlite3", file,
      """
      INSERT INTO peer (replica_id, store) VALUES (0x0123456789abcdef, 'cloud');
      INSERT INTO conflict (store, key, lost_type, lost_value, lost_timestamp, lost_replica_id,
        winner_type, winner_timestamp, winner_replica_id, found_at)
      VALUES ('cloud', 'k', 1, 'lost', 1, 1, 1, 2, 2, 3);
      """)
  }

  /// The bytes of all regular files in the folder, and the names of the others.
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
    of file: String, by commands: [FileCommand] = FileCommand.sample, _ complaint: String,
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
