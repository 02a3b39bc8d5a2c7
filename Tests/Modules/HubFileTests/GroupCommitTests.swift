// SPDX-License-Identifier: Apache-2.0

import Foundation
import HubStoreSupport
import KeepsakeHubFile
import KeepsakeHubServer
import TestSupport
import Testing

@Suite struct HubGroupCommitTests {
  private struct Refused: Error {}

  private let folder: HubFolder

  init() throws { folder = try HubFolder() }

  @Test func workThatIsSubmittedTogetherIsCommittedTogetherAndAnsweredThen() async throws {
    let file = try folder.open()
    let (a, b, noted) = (try await file.addAccount(1), try await file.addAccount(2), NotedLines())
    file.observe { noted.note("newest of \($0) is \($1.number)") }
    file.together {
      for (account, key) in [(a, "1"), (b, "2"), (a, "3")] {
        file.run(.put([key], in: account) { noted.note("work \(key)") }) { _ in
          noted.note("done \(key)")
        }
      }
    }
    file.close()
    #expect(noted.all.prefix(6) == ["work 1", "work 2", "work 3", "done 1", "done 2", "done 3"])
    #expect(noted.all.dropFirst(6).sorted() == ["newest of 1 is 2", "newest of 2 is 1"])
  }

  @Test func workThatThrowsIsRolledBackAlone() async throws {
    let file = try folder.open()
    let (account, noted) = (try await file.addAccount(1), NotedLines())
    file.together {
      for key in ["1", "2", "3"] {
        file.run(.put([key], in: account) { if key == "2" { throw Refused() } }) { result in
          switch result {
          case .success(let number): noted.note("\(key): \(number)")
          case .failure(let error): noted.note("\(key): \(type(of: error))")
          }
        }
      }
    }
    #expect(try await file.keys(of: account) == ["1", "3"])
    #expect(noted.all == ["1: 1", "2: Refused", "3: 2"])
  }

  @Test func workThatTheFileRefusesFailsAlone() async throws {
    let file = try folder.open()
    let (account, noted) = (try await file.addAccount(1), NotedLines())
    // A token of another device.
    let bad = HubWork<Void>(HubQuery(account, isWriting: true)) { _ in
      var change = HubChange()
      change.device = HubDevice(number: 2, name: "x", tokenHash: [1], created: 0)
      return ((), change)
    }
    file.together {
      file.run(.put(["1"], in: account)) { if case .success = $0 { noted.note("1") } }
      file.run(bad) { if case .failure(HubStoreError.broken) = $0 { noted.note("bad") } }
      file.run(.put(["2"], in: account)) { if case .success = $0 { noted.note("2") } }
    }
    #expect(try await file.keys(of: account) == ["1", "2"])
    #expect(noted.all == ["1", "bad", "2"])
  }

  @Test func workThatChangesNothingWritesNothing() async throws {
    let file = try folder.open()
    let account = try await file.addAccount(1)
    try await file.put("a", in: account)
    let (log, time) = (try folder.bytes(folder.log), try folder.status.time)
    for _ in 0..<20 { #expect(try await file.keys(of: account) == ["a"]) }
    #expect(try folder.bytes(folder.log) == log && folder.status.time == time)
    #expect(log.count > 32)
  }

  @Test func aDeletedAccountLeavesNothing() async throws {
    let file = try folder.open()
    let account = try await file.addAccount(1)
    let sender = HubSender(account: 1, tokenHash: [1], replica: "r")
    let push = HubPush(
      base: .start, rows: [HubRow(key: [0x61], body: [0x30])], mark: [1], vectors: [0x30])
    let rules = LogRules(HubLimits(), at: 0)
    #expect(try await file.run(rules.push(push, by: sender, bits: 1)) != nil)
    _ = try await file.run(AccountRules(HubLimits(), at: 0).invite(1, token: [1], code: [2]))
    try await file.run(AccountRules(HubLimits(), at: 0).delete(1, token: [1]))
    await #expect(throws: HubRefusal.token) { try await file.put("b", in: account) }
    file.close()
    for table in try folder.shell("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .split(separator: "\n")
    {
      #expect(try folder.shell("SELECT count(*) FROM \(table)") == "0\n", "\(table)")
    }
  }

  @Test func closingEndsAllWorkAndLeavesOneFile() async throws {
    let file = try folder.open()
    let (account, noted) = (try await file.addAccount(1), NotedLines())
    file.together {
      for key in 0..<600 {
        file.run(.put(["\(key)"], in: account)) { if case .success = $0 { noted.note("") } }
      }
    }
    file.close()
    #expect(noted.all.count == 600)
    #expect(try folder.contents.keys.sorted() == ["hub.sqlite"])
    await #expect(throws: HubStoreError.unavailable("the hub ends")) {
      try await file.keys(of: account)
    }
    #expect(try await folder.open().keys(of: account).count == 600)
  }

  @Test func workIsRefusedIfTooMuchWaits() async throws {
    let (file, noted) = (try folder.open(), NotedLines())
    file.together {
      for _ in 0..<2_002 {
        file.run(HubWork<Void>(HubQuery(0, isWriting: false)) { _ in ((), nil) }) { result in
          if case .failure(HubStoreError.unavailable(let why)) = result { noted.note(why) }
        }
      }
      #expect(noted.all == ["too much waits for the file", "too much waits for the file"])
    }
    file.close()
    #expect(noted.all.count == 2)
  }

  @Test func aLogThatHasBecomeLongIsMovedIntoTheFile() async throws {
    let file = try folder.open()
    try await file.addAccount(1)
    for round in 0..<60 {
      let long = String(repeating: "x", count: 1_000)
      _ = try await file.run(.put((0..<200).map { "\(round) \($0) \(long)" }, in: 1))
    }
    #expect(try folder.status.size > 1 << 20)
    file.close()
  }

  @Test func aFileThatWasReplacedAcknowledgesNothingMore() async throws {
    let file = try folder.open()
    try await file.addAccount(1)
    try await file.put("a", in: 1)
    try FileManager.default.moveItem(atPath: folder.path, toPath: folder.path + ".moved")
    await #expect(throws: HubStoreError.self) { try await file.put("b", in: 1) }
    try FileManager.default.moveItem(atPath: folder.path + ".moved", toPath: folder.path)
    try await file.put("c", in: 1)
    #expect(try await file.keys(of: 1) == ["a", "c"])
  }
}
