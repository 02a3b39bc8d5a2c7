// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite struct OrphanedLogTests {
  @Test func theLogOfAFileThatIsGoneDoesNotBecomeThatOfANewOne() throws {
    let folder = try Folder.furnished()
    for key in ["k", "l", "m"] { try folder.must("set", "new", key, "v", Moment.ten.argument) }
    try folder.crash("new", "UPDATE entry SET value = 'old'")
    try folder.shell("rm", "new")
    let log = try folder.digests("new-wal")
    let before = try folder.everything()
    let merge = ["merge", "good", "new", "--create"]
    for words in FileCommand.makers.map({ $0.arguments("new") }) + [
      ["clone", "good", "new"], merge, merge + ["--dry-run"], merge + ["--one-way"],
    ] {
      #expect(
        try folder.run(words)
          == Ending(
            stderr: "kvsync: new: the log of a file that is gone is still there; "
              + "remove new-wal, or put the file back\n", code: 73), "\(words)")
    }
    #expect(try folder.everything() == before)
    #expect(try folder.digests("new-wal") == log)
    try folder.shell("rm", "new-wal")
    try folder.must("set", "new", "k", "v")
    try folder.expect("list", "new", prints: "cloud\tk\tstring\t\"v\"\n")
    try folder.expectDoctor("new", prints: "new: nothing is wrong\n")
  }

  @Test func anEmptyLogIsNoObstacle() throws {
    let folder = try Folder()
    try folder.write("", to: "new-wal")
    try folder.must("set", "new", "k", "v")
    try folder.expect("get", "new", "k", prints: "v\n")
  }
}
