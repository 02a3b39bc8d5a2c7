// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeMigrations
import KeepsakeValues
import Synchronization
import TestSupport
import Testing

@Suite struct OpeningTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path + "/device.keepsake" }

  init() throws {
    folder = try TemporaryFolder()
  }

  private func shell(_ sql: String) throws {
    #expect(try Command.run(Command.find("sqlite3"), [path, sql]) == Ending())
  }

  private func code(_ access: Device.Access = .existing) -> KeepsakeError.Code? {
    do {
      _ = try Device(path: path, access: access)
      return nil
    } catch {
      return error.code
    }
  }

  @Test func aDraftIsNotAbandonedWhileItIsMade() throws {
    do {
      let draft = try Draft(of: path)
      Draft.removeAbandoned(of: path)
      try draft.populate(.random())
      #expect(try draft.publish())
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
    _ = try Device(path: path)
  }

  @Test func aFileGetsItsNameWhereThereAreNoLinks() throws {
    func name(_ from: String, _ to: String) -> Int32 {
      Creation.name(folder.path + from, folder.path + to) { _, _ in
        errno = EPERM
        return -1
      }
    }
    for name in ["/a", "/b"] {
      try Data(name.utf8).write(to: URL(fileURLWithPath: folder.path + name))
    }
    #expect(name("/a", "/b") == EEXIST)
    #expect(name("/a", "/c") == 0)
    #expect(try String(contentsOfFile: folder.path + "/b", encoding: .utf8) == "/b")
    #expect(try String(contentsOfFile: folder.path + "/c", encoding: .utf8) == "/a")
    #expect(!FileStatus.exists(folder.path + "/a"))
  }

  @Test func aNewFileHasAnIdentityThatStays() throws {
    let id = try Device(path: path).replica()
    #expect(try Device(path: path).replica() == id)
    #expect(try Device(path: path, access: .readOnly).replica() == id)
  }

  @Test func aClosedDeviceIsOneFileForItsOwnerAlone() throws {
    do {
      let device = try Device(path: path)
      try device.write([LocalWrite(store: "cloud", key: "k", value: 1)])
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["device.keepsake"])
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  @Test func aTemporaryFolderIsItsOwnersAlone() throws {
    let device = try Device.temporary()
    let folder = URL(fileURLWithPath: device.path).deletingLastPathComponent().path
    let attributes = try FileManager.default.attributesOfItem(atPath: folder)
    #expect(attributes[.posixPermissions] as? Int == 0o700)
  }

  @Test func readingLeavesNothingBeside() throws {
    _ = try Device(path: path)
    _ = try Device(path: path, access: .readOnly).entry(store: "cloud", key: "k")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["device.keepsake"])
  }

  /// Else two devices would hold one file by the identities of two.
  @Test func aFileThatIsReplacedWhileItIsOpenedIsTheNewOne() throws {
    let (path, other) = (path, path + ".other")
    _ = try Device(path: path)
    let id = try Device(path: other).replica()
    // Only the first time: then there is no other any more.
    let device = try Device(
      path, .create, hooks: OpeningHooks(beforeOpening: { _ = rename(other, path) }))
    #expect(try device.replica() == id)
    #expect(try device.file == FileID(of: path))
    #expect(try Device(path: path).storageForTests === device.storageForTests)
  }

  @Test func aFileIsOpenedWhileAnotherThreadOpensASlowOne() throws {
    func inode(_ path: String) throws -> UInt64 {
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      return try #require(attributes[.systemFileNumber] as? UInt64)
    }
    for name in [path, path + ".b", path + ".c"] { _ = try Device(path: name) }
    // One of two others has another lock than the first: that both share it is unlikely.
    let first = try inode(path)
    let other = try #require(
      try [path + ".b", path + ".c"].first { try (inode($0) ^ first) % 64 != 0 })
    let opened = Mutex<Result<Device, any Error>?>(nil)
    _ = try Device(
      path,
      hooks: OpeningHooks(beforeOpening: {
        let end = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          let result = Result<Device, any Error> { try Device(path: other) }
          opened.withLock { $0 = result }
          end.signal()
        }
        end.wait()
      }))
    _ = try #require(opened.withLock { $0 }).get()
  }

  @Test func aMissingFileIsMadeOnlyWhenAskedFor() throws {
    #expect(code(.existing) == .missing)
    #expect(code(.readOnly) == .missing)
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(code(.create) == nil)
  }

  @Test func aFileThatCannotBeMadeSaysWhy() throws {
    expectError(.cannotCreate) { try Device(path: folder.path + "/no/such/folder.keepsake") }
  }

  @Test(arguments: [Device.Access.create, .existing, .readOnly])
  func whatIsNotOursIsRefusedAndLeftAlone(access: Device.Access) throws {
    for content in [
      "", "text", "SQLite format 3\0 but not more", String(repeating: "x", count: 9000),
    ] {
      try Data(content.utf8).write(to: URL(fileURLWithPath: path))
      #expect(code(access) == .notKeepsake, "\(content.prefix(20))")
      #expect(try String(contentsOfFile: path, encoding: .utf8) == content)
    }
    #expect(try Command.run(Command.find("rm"), [path]).code == 0)
    try shell("CREATE TABLE t (x)")
    #expect(code(access) == .notKeepsake)
    #expect(try Command.run(Command.find("rm"), [path]).code == 0)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    #expect(code(access) == .notKeepsake)
  }

  @Test(arguments: [
    ("UPDATE replica SET min_writer = 99", KeepsakeError.Code.newerSchema),
    ("DELETE FROM replica", .corrupt), ("DROP TABLE entry", .corrupt),
    ("DROP TABLE peer; CREATE TABLE peer (x)", .corrupt), ("DROP INDEX entry_sequence", .corrupt),
    ("DROP TABLE migration", .corrupt), ("UPDATE migration SET hash = ''", .newerSchema),
    ("CREATE TABLE grdb_migrations (identifier)", .newerSchema),
    ("CREATE TRIGGER t AFTER INSERT ON entry BEGIN DELETE FROM entry; END", .notKeepsake),
    ("CREATE VIEW v AS SELECT 1", .notKeepsake),
  ])
  func aSchemaThatIsNotOursIsRefused(sql: String, expected: KeepsakeError.Code) throws {
    _ = try Device(path: path)
    try shell(sql)
    for access in [Device.Access.create, .existing, .readOnly] { #expect(code(access) == expected) }
  }

  /// One after the other they read as ours do, but SQLite takes only the first for one.
  @Test func objectsWithinTheTextOfAnotherAreNone() throws {
    _ = try Device(path: path)
    try shell(
      """
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = sql || (
        SELECT char(59, 10) || '-- entry_sequence' || char(10) || sql
        FROM sqlite_schema WHERE name = 'entry_sequence') WHERE name = 'entry';
      DELETE FROM sqlite_schema WHERE name = 'entry_sequence';
      """)
    for access in [Device.Access.create, .existing, .readOnly] { #expect(code(access) == .corrupt) }
  }

  @Test func aTruncatedFileIsNeverTakenForAWholeOne() throws {
    do {
      let device = try Device(path: path)
      for index in 0..<200 {
        try device.write([LocalWrite(store: "cloud", key: "key \(index)", value: "value")])
      }
    }
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    for length in stride(from: 0, to: whole.count, by: 512) {
      try whole.prefix(length).write(to: URL(fileURLWithPath: path))
      let failure = #expect(throws: KeepsakeError.self, "\(length) bytes") {
        let device = try Device(path: path, access: .existing)
        try device.checkIntegrity()
      }
      #expect(failure?.code == .corrupt || failure?.code == .notKeepsake, "\(length) bytes")
    }
  }

  @Test func handlesOnOneFileShareWhatTheyHear() throws {
    let first = try Device(path: path)
    let second = try Device(path: folder.path + "/./device.keepsake")
    let heard = Heard()
    let observation = heard.observe(first, store: "cloud")
    try second.write([LocalWrite(store: "cloud", key: "k", value: 1)])
    #expect(heard.sets.count == 1)
    observation.cancel()
  }

  @Test func manyThreadsThatMakeOneFileMakeOneDevice() async throws {
    let path = path
    let ids = try await withThrowingTaskGroup(of: ReplicaID.self) { group in
      for _ in 0..<16 { group.addTask { try Device(path: path, access: .create).replica() } }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(ids.count == 1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["device.keepsake"])
  }

  /// The last one that closes removes the log.
  @Test func anOpeningBesideAClosingMissesNoLog() async throws {
    let path = path
    _ = try Device(path: path, access: .create)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask { for _ in 0..<50 { _ = try Device(path: path).replica() } }
      }
      try await group.waitForAll()
    }
  }
}
