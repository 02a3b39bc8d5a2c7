// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite struct AccessTests {
  private let folder: Folder
  init() throws { folder = try Folder.lockable() }

  private func expectDenied(
    _ commands: [FileCommand], _ complaint: String, code: Int32 = 77,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    for command in commands {
      #expect(
        try folder.runUnprivileged(command.arguments("sub/bad"))
          == Ending(stderr: "kvsync: sub/bad: \(complaint)\n", code: code), "\(command)",
        sourceLocation: sourceLocation)
    }
  }

  private func expectReading() throws {
    for command in FileCommand.readers {
      let ending = try folder.runUnprivileged(command.arguments("sub/bad"))
      #expect(ending.code == 0 && ending.stderr == "", "\(command) \(ending)")
    }
  }

  @Test(arguments: [["444", "sub/bad"], ["555", "sub"]])
  func whatIsReadOnlyIsReadAndNotWritten(_ mode: [String]) throws {
    let before = try folder.digests("sub/bad")
    try folder.shell("chmod", mode[0], mode[1])
    try expectDenied(
      FileCommand.writers,
      "the file or its folder is read-only; "
        + "make both writable: SQLite keeps its log beside the file")
    try expectReading()
    try expectDenied(
      [.watch],
      "in a read-only folder a file cannot be watched; watch it as a user who may write there")
    #expect(try folder.digests("sub/bad") == before)
    try folder.shell("chmod", "755", "sub")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/sub") == ["bad"])
  }

  @Test(arguments: [("sub/bad", "600"), ("sub", "755")])
  func aFileThatCannotBeReadOrReachedIsDenied(_ name: String, mode: String) throws {
    let before = try folder.digests("sub/bad")
    try folder.shell("chmod", "000", name)
    try expectDenied(
      FileCommand.allCases,
      "the system refuses access (Permission denied); "
        + "change the permissions of the file and of its folder")
    try folder.shell("chmod", mode, name)
    #expect(try folder.digests("sub/bad") == before)
  }

  @Test func nothingIsMadeInAReadOnlyFolder() throws {
    try folder.shell("rm", "sub/bad")
    try folder.shell("chmod", "555", "sub")
    try expectDenied(
      FileCommand.makers,
      "it cannot be made (Permission denied); "
        + "make the folder, or name one that you can write to", code: 73)
    let ending = try folder.runUnprivileged(["merge", "good", "sub/bad", "--create"])
    #expect(ending.code == 73 && ending.stdout == "", "\(ending)")
    try folder.shell("chmod", "755", "sub")
  }

  @Test func inputThatCannotBeReadIsDenied() throws {
    try folder.shell("mkdir", "--mode=700", "closed")
    try folder.write(#"{"key":"k","type":"integer","value":1}"#, to: "closed/lines")
    try folder.shell("chmod", "000", "lines", "table.plist", "closed")
    for (command, input) in [
      ("import", "lines"), ("seed", "table.plist"), ("import", "closed/lines"),
    ] {
      let ending = try folder.runUnprivileged([command, "new", input])
      #expect(ending.code == 77 && ending.stdout == "", "\(ending)")
      #expect(ending.stderr.hasPrefix("kvsync: \(input): "), "\(ending)")
      #expect(!folder.exists("new"))
    }
    try folder.shell("chmod", "755", "closed")
  }
}
