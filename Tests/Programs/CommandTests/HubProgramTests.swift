// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// `kvsync` becomes `kvsync-hub` for what is about hubs. No hub is needed to be told what is wrong.
@Suite struct HubProgramTests {
  private let address = "http://127.0.0.1:1"

  private func folder() throws -> Folder {
    let folder = try Folder()
    try folder.must("set", "a", "theme", "dark")
    return folder
  }

  @Test(arguments: [
    (["--dry-run"], "http://127.0.0.1:1: --dry-run is for files; merge with a hub without it"),
    (["--one-way"], "http://127.0.0.1:1: --one-way is for files; merge with a hub without it"),
    (["--create"], "http://127.0.0.1:1: --create is for files; merge with a hub without it"),
    (["b"], "(command line): a hub is merged with one file; name a device file and an address"),
  ])
  func whatIsForFilesIsRefused(words: [String], says: String) throws {
    try folder().expect(
      ["merge", "a", address] + words, says: "kvsync: \(says)\n", code: 64)
  }

  @Test(arguments: ["http://hub.example", "http://192.168.1.2:7890", "HTTP://127.0.0.1.example"])
  func noTokenGoesWhereOthersCouldReadIt(address: String) throws {
    let folder = try folder()
    folder.environment["KEEPSAKE_HUB_TOKEN"] =
      "0000000000000001." + String(repeating: "a", count: 43)
    let says =
      "kvsync: \(address): http would show the token to others; "
      + "write https://; http is for localhost, 127.0.0.1 and [::1]\n"
    for words in [
      ["merge", "a", address], ["watch", "a", "--hub", address],
      ["hub", "create", address, "a", "--secret", "hub.db.secret"],
    ] {
      try folder.expect(words, says: says, code: 64)
    }
  }

  @Test func helpNamesTheCommandsOfHubs() throws {
    let help = try folder().must("hub", "--help")
    for command in [
      "create", "invite", "join", "devices", "rename", "revoke", "export", "delete",
    ] {
      #expect(help.contains("\n  \(command) "), "\(command)")
    }
  }
}
