// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeHub
import KeepsakeValues
import Testing
import kvsync_hub

@Suite final class CredentialsTests {
  private let folder =
    FileManager.default.temporaryDirectory.path + "/keepsake-hubs-" + UUID().uuidString
  private let credentials: HubCredentials

  init() {
    credentials = HubCredentials(environment: ["XDG_CONFIG_HOME": folder], home: "/nowhere")
  }

  deinit {
    do {
      try FileManager.default.removeItem(atPath: folder)
    } catch {
      Issue.record("\(error)")
    }
  }

  private func entry(_ device: String, _ letter: Character) -> HubCredentials.Entry {
    HubCredentials.Entry(
      hub: "https://hub.example", device: device,
      membership: HubMembership(
        account: 1, token: String(repeating: letter, count: 43), device: 2))
  }

  private func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return try #require(attributes[.posixPermissions] as? Int)
  }

  @Test func aTokenIsKeptForItsUserAloneAndReplacedForItsDevice() throws {
    #expect(try credentials.read().entries.isEmpty)
    try credentials.add(entry("/a", "x"))
    try credentials.add(entry("/b", "y"))
    try credentials.add(entry("/a", "z"))
    #expect(try credentials.read().entries == [entry("/b", "y"), entry("/a", "z")])
    #expect(try mode(credentials.path) == 0o600)
    #expect(try mode(folder + "/keepsake") == 0o700)
    try credentials.remove(entry("/b", "y"))
    #expect(try credentials.read().entries == [entry("/a", "z")])
  }

  @Test func filesWhoseNamesDifferInTheirBytesAloneHaveTwoTokens() throws {
    try credentials.add(entry("/\u{E9}", "x"))
    try credentials.add(entry("/e\u{301}", "y"))
    #expect(try credentials.read().entries.map(\.membership.token.first) == ["x", "y"])
  }

  @Test func aLineThatCannotBeReadIsReportedAndStays() throws {
    try credentials.add(entry("/a", "x"))
    let file = URL(fileURLWithPath: credentials.path)
    let lines = ["{\"hub\":1}", "what", "{\"hub\":\"h\",\"device\":\"d\",\"token\":\"short\"}"]
    let before = try String(contentsOf: file, encoding: .utf8)
    let text = before + lines.map { $0 + "\n" }.joined()
    let handle = try FileHandle(forWritingTo: file)
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: Data(text.utf8))
    try handle.close()
    let read = try credentials.read()
    #expect(read.entries == [entry("/a", "x")])
    #expect(read.problems.count == 3)
    #expect(read.problems[0].hasPrefix("\(credentials.path):2: "))
    #expect(!read.problems.joined().contains("short"))
    try credentials.add(entry("/b", "y"))
    let after = try String(contentsOf: file, encoding: .utf8)
    #expect(lines.allSatisfy(after.contains))
  }

  @Test(arguments: [0o640, 0o604, 0o620, 0o644])
  func aFileThatOthersMayReadOrWriteIsRefusedAndLeft(mode: Int) throws {
    try credentials.add(entry("/a", "x"))
    try FileManager.default.setAttributes(
      [.posixPermissions: mode], ofItemAtPath: credentials.path)
    let before = try Data(contentsOf: URL(fileURLWithPath: credentials.path))
    for work in [
      { _ = try self.credentials.read() }, { try self.credentials.add(self.entry("/b", "y")) },
    ] {
      #expect { try work() } throws: { ($0 as? KeepsakeError)?.code == .permissionDenied }
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: credentials.path)) == before)
  }
}

@Suite struct HubURLTests {
  @Test(arguments: [
    ("https://Hub.Example/", "https://hub.example"),
    ("https://hub.example:8443/keep/", "https://hub.example:8443/keep"),
    ("http://localhost:7890", "http://localhost:7890"), ("http://127.0.0.1", "http://127.0.0.1"),
    ("http://127.9.9.9", "http://127.9.9.9"), ("http://[::1]:1/x", "http://[::1]:1/x"),
  ])
  func anAddressIsWrittenOneWay(text: String, expected: String) throws {
    #expect(try HubURL(text).description == expected)
  }

  @Test(arguments: [
    "", "hub.example", "ftp://hub.example", "http://hub.example", "http://127.0.0.1.evil.example",
    "http://localhost.evil.example", "https://", "https://me:secret@hub.example",
    "https://hub.example?x", "https://hub.example#x", "https://hub.example/../x",
    "https://hub.example:0", "https://hub.example:70000", "https://hub .example",
    "https://hüb.example", "https://hub.example/\r\nX: y",
  ])
  func whatIsNoneIsRefusedWithoutShowingAPassword(text: String) {
    #expect { try HubURL(text) } throws: { error in
      (error as? KeepsakeError)?.code == .invalidValue && !"\(error)".contains("secret")
    }
  }
}
