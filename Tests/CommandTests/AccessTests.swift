// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite struct AccessTests {
  /// Runs the tool as a user whom permissions bind: root reads and writes everything.
  private func run(_ folder: Folder, _ arguments: [String]) throws -> Ending {
    guard getuid() == 0 else { return try folder.run(arguments) }
    return try Command.run(
      Command.find("setpriv"),
      ["--reuid=65534", "--regid=65534", "--clear-groups", try Command.kvsync.get()] + arguments,
      in: folder.path)
  }

  /// A folder whose files belong to that user; `sub/bad` is the one that the tests lock up.
  private func furnished() throws -> Folder {
    let folder = try Folder.furnished()
    try folder.makeFolder("sub")
    try folder.must("set", "sub/bad", "k", "v", Moment.ten.argument)
    if getuid() == 0 { try folder.shell("chown", "-R", "65534:65534", folder.path) }
    return folder
  }

  private func expectDenied(
    _ folder: Folder, _ commands: [FileCommand], _ complaint: String, code: Int32 = 77,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    for command in commands {
      #expect(
        try run(folder, command.arguments("sub/bad"))
          == Ending(stderr: "kvsync: sub/bad: \(complaint)\n", code: code), "\(command)",
        sourceLocation: sourceLocation)
    }
  }

  private func expectReading(_ folder: Folder) throws {
    for command in FileCommand.readers {
      let ending = try run(folder, command.arguments("sub/bad"))
      #expect(ending.code == 0 && ending.stderr == "", "\(command) \(ending)")
    }
  }

  @Test(arguments: [["444", "sub/bad"], ["555", "sub"]])
  func whatIsReadOnlyIsReadAndNotWritten(_ mode: [String]) throws {
    let folder = try furnished()
    let before = try folder.digests("sub/bad")
    try folder.shell("chmod", mode[0], mode[1])
    try expectDenied(
      folder, FileCommand.writers,
      "the file or its folder is read-only; "
        + "make both writable: SQLite keeps its log beside the file")
    try expectReading(folder)
    #expect(try folder.digests("sub/bad") == before)
    try folder.shell("chmod", "755", "sub")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/sub") == ["bad"])
  }

  @Test func aFileThatCannotBeReadIsDenied() throws {
    let folder = try furnished()
    let before = try folder.digests("sub/bad")
    try folder.shell("chmod", "000", "sub/bad")
    try expectDenied(
      folder, FileCommand.allCases,
      "the system refuses access (Permission denied); "
        + "change the permissions of the file and of its folder")
    try folder.shell("chmod", "600", "sub/bad")
    #expect(try folder.digests("sub/bad") == before)
  }

  @Test func aFolderThatCannotBeEnteredIsDenied() throws {
    let folder = try furnished()
    try folder.shell("chmod", "000", "sub")
    try expectDenied(
      folder, FileCommand.allCases,
      "the system refuses access (Permission denied); "
        + "change the permissions of the file and of its folder")
    try folder.shell("chmod", "755", "sub")
  }

  @Test func nothingIsMadeInAReadOnlyFolder() throws {
    let folder = try furnished()
    try folder.shell("rm", "sub/bad")
    try folder.shell("chmod", "555", "sub")
    try expectDenied(
      folder, FileCommand.makers,
      "it cannot be made (Permission denied); "
        + "make the folder, or name one that you can write to", code: 73)
    let ending = try run(folder, ["merge", "good", "sub/bad", "--create"])
    #expect(ending.code == 73 && ending.stdout == "", "\(ending)")
    try folder.shell("chmod", "755", "sub")
  }

  @Test func inputThatCannotBeReadIsDenied() throws {
    let folder = try furnished()
    try folder.shell("chmod", "000", "lines", "table.plist")
    for (command, input) in [("import", "lines"), ("seed", "table.plist")] {
      let ending = try run(folder, [command, "new", input])
      #expect(ending.code == 77 && ending.stdout == "", "\(ending)")
      #expect(ending.stderr.hasPrefix("kvsync: \(input): "), "\(ending)")
      #expect(!folder.exists("new"))
    }
  }

  @Test func aLogThatCannotBeReadAlongIsNotIgnored() throws {
    let folder = try Folder.furnished()
    let holder = """
      import sqlite3, shutil
      connection = sqlite3.connect("good", isolation_level=None)
      connection.execute("UPDATE entry SET value = 'in the log'")
      for name in ["good", "good-wal"]: shutil.copy(name, "sub/" + name.replace("good", "bad"))
      """
    try folder.makeFolder("sub")
    try folder.shell("python3", "-c", holder)
    if getuid() == 0 { try folder.shell("chown", "-R", "65534:65534", folder.path) }
    try folder.shell("chmod", "555", "sub")
    try expectDenied(
      folder, FileCommand.readers,
      "its folder is read-only and holds an unfinished -wal log; "
        + "copy the file and its -wal to a folder of yours and read them there")
    try folder.shell("chmod", "755", "sub")
    try folder.expect("get", "sub/bad", "k", prints: "in the log\n")
  }

  @Test func aNewFileIsItsOwnersAlone() throws {
    let folder = try Folder.furnished()
    let mode = try FileManager.default.attributesOfItem(atPath: folder.path + "/good")
    #expect(mode[.posixPermissions] as? Int == 0o600)
  }
}
