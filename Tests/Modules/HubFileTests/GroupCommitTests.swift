// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeHubFile
import KeepsakeHubServer
import TestSupport
import Testing

@Suite struct HubGroupCommitTests {
  private struct Refused: Error {}

  private let folder: HubFolder

  init() throws { folder = try HubFolder() }

  @Test func whatIsSubmittedTogetherIsCommittedTogetherAndSaidThen() async throws {
    let file = try folder.open()
    let (a, b, told) = (try await file.addAccount(1), try await file.addAccount(2), Told())
    file.observe { told.note("news of \($0 == a ? "a" : "b") through \($1)") }
    file.together {
      for (account, key) in [(a, "1"), (b, "2"), (a, "3")] {
        file.submit(
          on: account,
          { tables in
            told.note("work \(key)")
            try HubFile.put([key], tables)
          }, { (_: Result<Void, any Error>) in told.note("done \(key)") })
      }
    }
    file.close()
    #expect(told.all.prefix(6) == ["work 1", "work 2", "work 3", "done 1", "done 2", "done 3"])
    #expect(told.all.dropFirst(6).sorted() == ["news of a through 2", "news of b through 1"])
  }

  @Test func workThatThrowsIsUndoneAlone() async throws {
    let file = try folder.open()
    let (account, told) = (try await file.addAccount(), Told())
    file.together {
      for key in ["1", "2", "3"] {
        file.submit(
          on: account,
          { tables in
            try HubFile.put([key], tables)
            if key == "2" { throw Refused() }
          },
          { (result: Result<Void, any Error>) in
            switch result {
            case .success: told.note(key)
            case .failure(let error): told.note("\(key): \(type(of: error))")
            }
          })
      }
    }
    #expect(try await file.keys(of: account) == ["1", "3"])
    #expect(told.all == ["1", "2: Refused", "3"])
    #expect(try await file.onAccount(account) { try $0.account.seq } == 2)
  }

  @Test func workWithoutNewsWritesNothing() async throws {
    let file = try folder.open()
    let account = try await file.addAccount()
    try await file.put("a", in: account)
    let (log, time) = (try folder.bytes(folder.log), try folder.status.time)
    for _ in 0..<20 {
      #expect(try await file.keys(of: account) == ["a"])
      try await file.onAccount(account) { try $0.save($0.account) }
      _ = try await file.onDirectory { try $0.members(of: account) }
    }
    #expect(try folder.bytes(folder.log) == log && folder.status.time == time)
    #expect(log.count > 32)
  }

  @Test func nothingIsSubmittedToAnAccountThatIsGoneAndNumbersAreNotUsedTwice() async throws {
    let file = try folder.open()
    let account = try await file.addAccount()
    try await file.put("a", in: account)
    try await file.onDirectory { try $0.removeAccount(account) }
    await #expect(throws: HubDatabaseError.noAccount) { try await file.put("b", in: account) }
    #expect(try await file.addAccount() > account)
    file.close()
    #expect(try folder.shell("SELECT count(*) FROM entry") == "0\n")
  }

  @Test func closingEndsWhatWasSubmittedAndLeavesOneFile() async throws {
    let file = try folder.open()
    let (account, told) = (try await file.addAccount(), Told())
    file.together {
      for key in 0..<600 {
        file.submit(
          on: account, { try HubFile.put(["\(key)"], $0) },
          { (result: Result<Void, any Error>) in if case .success = result { told.note("") } })
      }
    }
    file.close()
    #expect(told.all.count == 600)
    #expect(try folder.contents.keys.sorted() == ["hub.sqlite"])
    await #expect(throws: HubDatabaseError.unavailable("the hub ends")) {
      try await file.keys(of: account)
    }
    #expect(try await folder.open().keys(of: account).count == 600)
  }

  @Test func whoComesWhenTooMuchWaitsIsToldToComeLater() async throws {
    let (file, told) = (try folder.open(), Told())
    file.together {
      for _ in 0..<2_002 {
        file.submit({ _ in }) { (result: Result<Void, any Error>) in
          if case .failure(HubDatabaseError.unavailable(let why)) = result { told.note(why) }
        }
      }
      #expect(told.all == ["too much waits for the file", "too much waits for the file"])
    }
    file.close()
    #expect(told.all.count == 2)
  }

  @Test func aLogThatHasBecomeLongIsMovedIntoTheFile() async throws {
    let file = try folder.open()
    let account = try await file.addAccount()
    for round in 0..<60 {
      let keys = (0..<500).map { "\(round) \($0)" + String(repeating: "k", count: 200) }
      try await file.onAccount(account) { try HubFile.put(keys, $0) }
    }
    #expect(try folder.status.size > 4_000 * 4_096)
    #expect(try await file.keys(of: account).count == 30_000)
  }

  @Test func aFileThatIsReplacedIsNotWrittenAnyMore() async throws {
    let file = try folder.open()
    let account = try await file.addAccount()
    try FileManager.default.moveItem(atPath: folder.path, toPath: folder.path + ".old")
    let error = await #expect(throws: HubDatabaseError.self) {
      try await file.put("a", in: account)
    }
    #expect("\(error as Any)".contains("deleted or replaced while it was open"))
  }

  @Test func aRemovedLogLosesNoAcknowledgedWriteOfAProcessThatIsKilled() async throws {
    let file = try folder.open()
    let account = try await file.addAccount()
    try await file.put("a", in: account)
    try FileManager.default.removeItem(atPath: folder.log)
    let error = await #expect(throws: HubDatabaseError.self) {
      try await file.put("b", in: account)
    }
    #expect("\(error as Any)".contains("was removed while it was open"))
    // What the file alone holds.
    let copy = folder.path + ".copy"
    try FileManager.default.copyItem(atPath: folder.path, toPath: copy)
    let keys = try Command.run(
      Command.find("sqlite3"), [copy, "PRAGMA integrity_check; SELECT key FROM entry"])
    #expect(keys.stdout == "ok\na\n", "\(keys)")
    withExtendedLifetime(file) {}
  }

  /// Not even a transaction begins there.
  @Test func aFileWhoseFolderIsGoneFailsWhatIsSubmitted() async throws {
    let file = try folder.open()
    try FileManager.default.removeItem(atPath: folder.folder.path)
    for _ in 0..<2 {
      await #expect(throws: HubDatabaseError.self) { try await file.addAccount() }
    }
  }

  @Test(.enabled(if: Tmpfs.isPossible, Comment(rawValue: Tmpfs.need)))
  func whatFindsTheDiskFullIsNotAcknowledgedAndNothingOfItIsThere() async throws {
    let disk = try Tmpfs(on: folder.folder.path, pages: 600)
    defer {
      do { try disk.unmount() } catch { Issue.record("\(error)") }
    }
    let file = try folder.open()
    let (account, told) = (try await file.addAccount(), Told())
    try await file.put("before", in: account)
    try disk.fill(leaving: 0)
    file.together {
      for key in 0..<10 {
        file.submit(
          on: account, { try HubFile.put(["\(key)" + String(repeating: "k", count: 9000)], $0) },
          { (result: Result<Void, any Error>) in
            if case .failure(HubDatabaseError.unavailable(let problem)) = result {
              told.note(problem)
            } else {
              told.note("\(result)")
            }
          })
      }
    }
    // Whoever reads in the same batch is told the same.
    while told.all.count < 10 { await Task.yield() }
    let full = "\(folder.path): the disk is full; free some space and try again"
    #expect(try await file.keys(of: account) == ["before"])
    #expect(told.all == Array(repeating: full, count: 10))
    try disk.empty()
    try await file.put("after", in: account)
    file.close()
    #expect(try await folder.open().keys(of: account) == ["before", "after"])
  }
}
