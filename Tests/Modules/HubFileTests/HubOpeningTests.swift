// SPDX-License-Identifier: Apache-2.0

import Foundation
import HubStoreSupport
import KeepsakeDevice
import KeepsakeHubFile
import KeepsakeHubMigrations
import KeepsakeHubServer
import KeepsakeStorage
import TestSupport
import Testing

@Suite struct HubOpeningTests {
  private let folder: HubFolder

  init() throws { folder = try HubFolder() }

  /// Opens a file that must be refused, and left as it is.
  private func refusal(
    at location: SourceLocation = #_sourceLocation
  ) throws -> KeepsakeError? {
    let before = try folder.contents
    let error = #expect(throws: KeepsakeError.self, sourceLocation: location) {
      try folder.open()
    }
    #expect(try folder.contents == before, sourceLocation: location)
    return error
  }

  private func make() async throws {
    let file = try folder.open()
    let account = try await file.addAccount(1)
    for key in 0..<200 { try await file.put("\(key)", in: account) }
    file.close()
  }

  @Test func aMissingFileIsMadeForItsOwnerAlone() async throws {
    try await make()
    let attributes = try FileManager.default.attributesOfItem(atPath: folder.path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    #expect(try folder.shell("PRAGMA application_id; PRAGMA user_version") == "1263031618\n1\n")
  }

  /// The state after a crash before the first commit.
  @Test func anEmptyFileBecomesAHubs() async throws {
    try Data().write(to: URL(fileURLWithPath: folder.path))
    try await make()
    #expect(try await folder.open().keys(of: 1).count == 200)
  }

  @Test func theFileOfAnotherApplicationIsRefused() throws {
    _ = try folder.shell("PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    #expect(
      "\(try refusal() as Any)".contains(
        "\(folder.path): this is not a hub's file; name a hub's file, or one that is not there"))
  }

  @Test func aDevicesFileIsRefused() throws {
    try Device(path: folder.path).write([LocalWrite(store: "cloud", key: "k", value: 1)])
    #expect(try refusal()?.problem == "this is a device's file")
  }

  @Test func whatIsNoDatabaseIsRefused() throws {
    try Data("no database, and longer than the header of one would be\n".utf8.repeated(40))
      .write(to: URL(fileURLWithPath: folder.path))
    #expect(try refusal()?.problem == "this is not a hub's file")
  }

  @Test func aNewerSchemaIsRefused() async throws {
    try await make()
    _ = try folder.shell("PRAGMA user_version = 2")
    let error = try refusal()
    #expect(error?.code == .newerSchema && error?.cure == "update this program")
  }

  @Test(arguments: [
    "CREATE TRIGGER t AFTER INSERT ON keepsake_row BEGIN DELETE FROM keepsake_row; END",
    "CREATE VIEW v AS SELECT 1", "CREATE TABLE other (a)", "DROP INDEX keepsake_row_number",
    "CREATE INDEX other ON keepsake_row (number)", "DROP TABLE keepsake_replica",
  ])
  func anotherSchemaIsRefused(change: String) async throws {
    try await make()
    _ = try folder.shell(change)
    #expect(try refusal()?.code == .newerSchema)
  }

  @Test func aFileOfAnEarlierVersionGetsTheMigrationsThatItLacks() async throws {
    try await make()
    let later = HubMigrations.all + ["PRAGMA user_version = 2;\nCREATE TABLE other (a);\n"]
    for _ in 0..<2 {
      let file = try HubFile(path: folder.path, busyTimeout: .zero, migrations: later)
      #expect(try await file.keys(of: 1).count == 200)
      file.close()
    }
    #expect(try refusal()?.code == .newerSchema)
  }

  @Test func aFileWithoutItsEndIsRefused() async throws {
    try await make()
    try folder.bytes(folder.path).dropLast(1).write(to: URL(fileURLWithPath: folder.path))
    #expect(try refusal()?.code == .corrupt)
  }

  @Test func aLogWithoutItsFileIsRefused() throws {
    try Data(count: 100).write(to: URL(fileURLWithPath: folder.log))
    #expect(try refusal()?.code == .cannotCreate)
  }

  /// The other program may be this process or another, a hub or not.
  @Test func aFileThatIsOpenElsewhereIsRefused() async throws {
    try await make()
    let file = try folder.open()
    let words = "\(folder.path): another program has it open, as another hub; end that first"
    let second = #expect(throws: KeepsakeError.self) { try folder.open() }
    #expect(second?.description == words)
    #expect(throws: Command.Missing.self) { try folder.shell("SELECT * FROM keepsake_account") }
    file.close()
    let locker = try Locker(
      URL(fileURLWithPath: folder.path), ["BEGIN", "SELECT * FROM keepsake_account"])
    let error = #expect(throws: KeepsakeError.self) { try folder.open() }
    #expect(error?.description == words)
    try locker.release()
    #expect(try await folder.open().keys(of: 1).count == 200)
  }

  /// The file and its log, as a killed hub leaves them.
  private func crashed(_ folder: HubFolder, accounts: Int64, after first: Int64 = 0) async throws
    -> HubFolder
  {
    let copy = try HubFolder()
    let file = try folder.open()
    for number in 1...accounts {
      let account = try await file.addAccount(first + number)
      try await file.put("a", "b", in: account)
    }
    for name in ["hub.sqlite", "hub.sqlite-wal"] {
      try FileManager.default.copyItem(
        atPath: "\(folder.folder.path)/\(name)", toPath: "\(copy.folder.path)/\(name)")
    }
    file.close()
    return copy
  }

  @Test func theLogThatACrashHasLeftIsRead() async throws {
    let copy = try await crashed(folder, accounts: 3)
    let file = try copy.open()
    #expect(try await file.keys(of: 3) == ["a", "b"])
    file.close()
    let again = try await crashed(copy, accounts: 2, after: 3)
    #expect(try await again.open().keys(of: 5) == ["a", "b"])
  }

  /// A backup copied over a file that crashed.
  @Test func theLogOfAnEarlierStateIsRefused() async throws {
    let copy = try await crashed(folder, accounts: 1)
    let file = try folder.open()
    for key in 0..<50 { try await file.put("later \(key)", in: 1) }
    file.close()
    try FileManager.default.copyItem(atPath: copy.log, toPath: folder.log)
    let error = try refusal()
    #expect(error?.code == .foreignLog, "\(error as Any)")
  }

  @Test func theLogOfAnotherHubIsRefused() async throws {
    try await make()
    let other = try HubFolder()
    let copy = try await crashed(other, accounts: 3, after: 1)
    try FileManager.default.copyItem(atPath: copy.log, toPath: folder.log)
    let error = try refusal()
    #expect(error?.code == .foreignLog, "\(error as Any)")
    try FileManager.default.removeItem(atPath: folder.log)
    #expect(try await folder.open().keys(of: 1).count == 200)
  }

  @Test func damageIsReportedAndOtherAccountsWork() async throws {
    let file = try folder.open()
    let accounts = [try await file.addAccount(1), try await file.addAccount(2)]
    for account in accounts {
      for start in stride(from: 0, to: 3_000, by: 1_000) {
        _ = try await file.run(.put((start..<start + 1_000).map { "key \($0)" }, in: account))
      }
    }
    file.close()
    // A leaf of the rows of one of them, which begins with its type.
    var bytes = try folder.bytes(folder.path)
    let page = try #require(
      stride(from: 4096, to: bytes.count, by: 4096).first {
        bytes[$0] == 10 && bytes[$0..<$0 + 4096].range(of: Data("value of key 5".utf8)) != nil
      })
    bytes.replaceSubrange(page..<page + 8, with: Data(repeating: 0xFF, count: 8))
    try bytes.write(to: URL(fileURLWithPath: folder.path))
    let again = try folder.open()
    var broken = 0
    for account in accounts {
      do {
        #expect(try await again.keys(of: account).count == 3_000)
      } catch HubStoreError.broken(let problem) {
        #expect(problem.contains("the file is damaged"))
        broken += 1
      }
    }
    #expect(broken == 1)
  }
}

extension String.UTF8View {
  fileprivate func repeated(_ count: Int) -> [UInt8] {
    (0..<count).flatMap { _ in Array(self) }
  }
}
