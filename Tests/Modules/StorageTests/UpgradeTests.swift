// SPDX-License-Identifier: Apache-2.0
//
// A file that a later version migrates: by several processes at once, or by one that is killed.

import Foundation
import KeepsakeDevice
import KeepsakeValues
import TestSupport
import Testing

@Suite struct UpgradeTests {
  private let folder: Folder
  private var path: String { folder.path + "/device" }
  private var original: String { folder.path + "/original" }

  init() throws {
    folder = try Folder()
    let device = try Device(path: original)
    try device.write([LocalWrite(store: "cloud", key: "theme", value: "dark")])
  }

  private func restart() throws {
    try folder.shell("rm", "-f", path, path + "-wal", path + "-shm")
    try FileManager.default.copyItem(atPath: original, toPath: path)
  }

  private func expectWhole() throws {
    let device = try LaterVersion.open(path)
    try device.checkIntegrity()
    #expect(try device.entry(store: "cloud", key: "theme")?.content.value == "dark")
    let applied = try device.tables.access { connection in
      try connection.all("SELECT name FROM migration ORDER BY 1") { $0.text(0) }
    }
    #expect(applied == LaterVersion.migrations.map(\.name))
  }

  /// Starts programs that open the file when `start` is closed.
  private func opener(_ start: Pipe) throws -> (Process, Pipe) {
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: try Command.probe.get())
    process.arguments = ["checkpoint", path, "open", "0"]
    // Not the pipe, whose end here Foundation would close.
    process.standardInput = start.fileHandleForReading
    process.standardOutput = output
    process.standardError = output
    try process.run()
    return (process, output)
  }

  @Test func ofEightProcessesThatOpenAFileAtOnceOneMigratesIt() throws {
    for round in 0..<5 {
      try restart()
      let start = Pipe()
      let openers = try (0..<8).map { _ in try opener(start) }
      try start.fileHandleForReading.close()
      try start.fileHandleForWriting.close()
      var migrations = 0
      for (process, output) in openers {
        let said = String(
          decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "round \(round): \(said)")
        migrations += Int(said.firstMatch(of: /migrations (\d+)/)?.1 ?? "") ?? 0
      }
      #expect(migrations == 1, "round \(round)")
      try expectWhole()
    }
  }

  private static func migrate(_ path: String) throws {
    let ending = try Command.runProbe(["checkpoint", path, "open", "0"])
    try #require(ending.stdout.hasSuffix("migrations 1\n"), "\(ending)")
  }

  @Test func aFileThatOthersMigrateBetweenTheLookAndTheLockIsOpened() throws {
    try restart()
    let path = path
    var hooks = LaterVersion.hooks
    hooks.beforeMigrating = { do { try Self.migrate(path) } catch { Issue.record(error) } }
    _ = try LaterVersion.open(path, hooks: hooks)
    try expectWhole()
  }

  @Test func aReaderGoesOnWhileAnotherProcessMigratesAndHearsOfWhatItWrites() throws {
    try restart()
    let reader = try Device(path: path, access: .readOnly)
    let heard = Heard()
    let observation = heard.observe(reader, store: "cloud", "k0")
    defer { observation.cancel() }
    let start = Pipe()
    let (process, output) = try opener(start)
    try start.fileHandleForReading.close()
    func theme() throws -> StoredValue? {
      try reader.entry(store: "cloud", key: "theme")?.content.value
    }
    #expect(try theme() == "dark")
    try start.fileHandleForWriting.close()
    while process.isRunning { #expect(try theme() == "dark") }
    let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    #expect(said.hasSuffix("migrations 1\n"))
    #expect(try theme() == "dark")
    try LaterVersion.open(path).write([LocalWrite(store: "cloud", key: "k0", value: "value 0")])
    #expect(heard.wait { $0.map(\.new) == ["value 0"] })
    #expect(try reader.entry(store: "cloud", key: "k0")?.content.value == "value 0")
  }

  @Test func aKillAtAnyStatementLeavesAFileThatOpens() throws {
    try restart()
    let whole = try Command.runProbe(["checkpoint", path, "open", "0"]).stdout
    let count = try #require(Int(whole.firstMatch(of: /statements (\d+)/)?.1 ?? ""))
    try #require(count > 10)
    for number in Seeds.some(of: 1...count, debug: 3) {
      try restart()
      let ending = try Command.runProbe(["checkpoint", path, "kill", "\(number)"])
      #expect(ending.code == 128 + SIGKILL, "statement \(number): \(ending)")
      try expectWhole()
    }
  }

  @Test func aFileOfTheCurrentVersionIsNotLockedToBeOpened() throws {
    _ = try Device(path: path)
    let locker = try Locker(URL(fileURLWithPath: path), ["BEGIN IMMEDIATE"])
    _ = try Device(path: path, access: .existing, busyTimeout: .zero)
    try locker.release()
  }
}
