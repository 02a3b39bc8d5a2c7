// SPDX-License-Identifier: Apache-2.0
//
// A merge that checks files does not read every page of one that was checked within a day, unless
// anything but SQLite's own checkpoints has touched it since.

import Foundation
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

@Suite struct RememberedCheckTests {
  private let clock = ManualClock()
  private let folder: TemporaryFolder
  private var options = MergeOptions()

  init() throws {
    folder = try TemporaryFolder()
    options.checksIntegrity = true
  }

  private func path(_ name: String) -> String { "\(folder.path)/\(name)" }

  private func open(_ name: String) throws -> Device {
    try Device(path: path(name), clock: clock.wallClock)
  }

  private func write(_ name: String, _ prefix: String, _ count: Int = 300) throws {
    clock.milliseconds += 1
    let text = String(repeating: prefix, count: 20)
    try open(name).write(
      (0..<count).map { LocalWrite(store: "cloud", key: "k\($0)", value: .string("\(text)\($0)")) })
  }

  private func merge(_ first: String = "a", _ second: String = "b") throws {
    let devices = [try open(first), try open(second)]
    _ = try Merge.run(devices, options: options)
  }

  private func isRemembered(_ name: String) throws -> Bool {
    try CheckRecord.holds(for: .file(path(name)), at: clock.milliseconds)
  }

  /// Both closed.
  private func meet() throws {
    for name in ["a", "b"] { try write(name, name) }
    try merge()
    try #require(try isRemembered("a") && isRemembered("b"))
  }

  private func bytes(_ name: String) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: path(name)))
  }

  /// Writes into the file, as a program that is no SQLite.
  private func overwrite(_ name: String, _ bytes: Data) throws {
    let handle = try #require(FileHandle(forWritingAtPath: path(name)))
    try handle.write(contentsOf: bytes)
    try handle.close()
    // Where the system's time of files is coarse, this write may have that of the one before.
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: 1)], ofItemAtPath: path(name))
  }

  /// What a disk does that returns other bytes than were written: nothing says when.
  private func rot(_ name: String, _ bytes: Data) throws {
    try overwrite(name, bytes)
    try CheckRecord(of: .file(path(name)), at: clock.milliseconds)?.save(for: .file(path(name)))
  }

  private func contents(_ name: String) throws -> [Entry] {
    var entries: [Entry] = []
    try open(name).forEachEntry { entries.append($0) }
    return entries
  }

  private func integrity(_ name: String) throws -> Bool {
    do {
      try open(name).checkIntegrity()
      return true
    } catch let error as KeepsakeError where error.isRefusal {
      return false
    }
  }

  @Test func aCheckIsRememberedOverCommitsCheckpointsAndMerges() throws {
    try meet()
    try write("a", "new", 2000)
    #expect(try isRemembered("a"))
    try merge()
    #expect(try isRemembered("a") && isRemembered("b"))
    do {
      let device = try open("b")
      for round in 0..<3 {
        try device.write([LocalWrite(store: "cloud", key: "r", value: .integer(Int64(round)))])
        try device.core.storage.emptyLog()
      }
      try device.compact()
    }
    #expect(try isRemembered("b"))
  }

  @Test func aFileThatNobodyCheckedIsNotTakenForChecked() throws {
    try write("a", "a")
    #expect(try !isRemembered("a"))
    try open("a").checkIntegrity()
    #expect(try !isRemembered("a"), "sizes were not checked")
  }

  @Test func aDayLaterItIsForgotten() throws {
    try meet()
    clock.milliseconds += 86_400_000
    #expect(try !isRemembered("a"))
    clock.milliseconds -= 86_400_001
    #expect(try isRemembered("a") == false, "checked in the future")
  }

  @Test func aCopyHasNotBeenChecked() throws {
    try meet()
    _ = try Command.run(Command.find("cp"), ["-a", path("a"), path("copy")])
    #expect(try !isRemembered("copy"))
    _ = try Command.run(Command.find("mv"), [path("copy"), path("a")])
    #expect(try !isRemembered("a"))
  }

  @Test func whatAnotherProgramHasWrittenIsForgotten() throws {
    try meet()
    try overwrite("a", bytes("a").prefix(100))  // The very bytes that are there.
    #expect(try !isRemembered("a"))
    _ = try Command.run(
      Command.find("sqlite3"), [path("b"), "UPDATE entry SET value = 'other' WHERE key = 'k1'"])
    #expect(try !isRemembered("b"), "its SQLite has moved the log")
    try write("a", "new")
    try merge()
    #expect(try isRemembered("a") && isRemembered("b"))
  }

  @Test func aCrashLeavesALogAndSparesNothing() throws {
    try meet()
    let device = try open("a")
    try device.write([LocalWrite(store: "cloud", key: "late", value: 1)])
    #expect(try !isRemembered("a"))
    withExtendedLifetime(device) {}
  }

  @Test func strangersAreCheckedWhateverIsRemembered() throws {
    try meet()
    try write("c", "c")
    let devices = [try open("c"), try open("a")]
    let trace = try StatementTrace.of([devices[1]]) { _ = try Merge.run(devices, options: options) }
    #expect(trace.statements.contains { $0.contains("integrity_check") })
  }

  @Test(arguments: [true, false])
  func afterDamageWasFoundAMergeReadsEveryPage(isChecked: Bool) throws {
    try meet()
    try write("c", "c")
    // A page in the middle of the table, which opening does not read.
    var whole = try bytes("a")
    let marker = try #require(whole.range(of: Data("\(String(repeating: "b", count: 20))150".utf8)))
    let page = marker.lowerBound / 1024 * 1024
    whole.replaceSubrange(page..<page + 1024, with: Data(repeating: 255, count: 1024))
    try rot("a", whole)
    try #require(try isRemembered("a"))
    let error = #expect(throws: KeepsakeError.self) {
      isChecked ? try open("a").checkIntegrity() : try merge("c", "a")
    }
    #expect(error?.code == .corrupt && error?.path == path("a"), "\(error as Any)")
    #expect(try !isRemembered("a"))
    try open("b").write([LocalWrite(store: "cloud", key: "z", value: 1)])
    let again = #expect(throws: KeepsakeError.self) { try merge() }
    #expect(again?.code == .corrupt && again?.path == path("a"), "\(again as Any)")
    #expect(try open("a").entry(store: "cloud", key: "z") == nil)
  }

  @Test(arguments: [Int64.min, .max, 0, -1])
  func anyTimeMayBeInARecord(time: Int64) throws {
    try meet()
    let location = Location.file(path("a"))
    try CheckRecord(of: location, at: time)?.save(for: location)
    #expect(try !isRemembered("a"))
  }

  @Test func anotherStoreOfFilesThatHaveMetIsNoReasonToReadThemWhole() throws {
    try meet()
    try open("a").write([LocalWrite(store: "cloud:other", key: "k", value: 1)])
    try open("a").compact()
    let devices = [try open("a"), try open("b")]
    let trace = try StatementTrace.of(devices) { _ = try Merge.run(devices, options: options) }
    #expect(!trace.statements.contains { $0.contains("integrity_check") })
  }

  /// Which page it is, and how it is damaged, are chosen at random.
  @Test(arguments: Seeds.list(60, debug: 8))
  func aPageThatAProgramDamagesAfterTheCheckIsFoundBeforeAnythingIsWritten(
    _ seed: UInt64
  ) throws {
    var generator = SeededGenerator(seed: seed)
    try meet()
    try write("a", "x", 40)
    let name = Bool.random(using: &generator) ? "a" : "b"
    let other = name == "a" ? "b" : "a"
    let whole = try bytes(name)
    let damage = PageDamage.allCases.randomElement(using: &generator) ?? .ones
    let page = Int.random(in: 0..<whole.count / PageDamage.size, using: &generator)
    let damaged = damage.apply(to: page, of: whole, using: &generator)
    try overwrite(name, damaged)
    let before = try bytes(other)
    do {
      try merge()
      #expect(try integrity("a") && integrity("b"), "seed \(seed) \(damage) page \(page)")
    } catch let error as KeepsakeError {
      #expect(error.path == path(name), "seed \(seed) \(damage) page \(page) \(error)")
      #expect(try bytes(other) == before && bytes(name) == damaged, "seed \(seed) page \(page)")
    }
  }

  /// Nobody can know of it: it is found where the merge reads, or does not matter to it.
  @Test(arguments: Seeds.list(60, debug: 8))
  func whatRotsAfterTheCheckIsFoundOrDoesNotTravel(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    try meet()
    try write("a", "x", 40)
    for name in ["a", "b"] {
      try FileManager.default.copyItem(atPath: path(name), toPath: path("whole-\(name)"))
    }
    let name = Bool.random(using: &generator) ? "a" : "b"
    let other = name == "a" ? "b" : "a"
    let whole = try bytes(name)
    let damage: PageDamage = Bool.random(using: &generator) ? .ones : .zeros
    let page = Int.random(in: 0..<whole.count / PageDamage.size, using: &generator)
    try rot(name, damage.apply(to: page, of: whole, using: &generator))
    let before = try bytes(other)
    do {
      try merge()
      try merge("whole-a", "whole-b")
      #expect(try contents(other) == contents("whole-\(other)"), "seed \(seed) page \(page)")
    } catch let error as KeepsakeError {
      #expect(error.isRefusal && error.path == path(name), "seed \(seed) page \(page) \(error)")
      #expect(try bytes(other) == before, "seed \(seed) page \(page) \(error)")
    }
  }

  @Test func aRowThatTheIndexHasAndTheTableLacksIsFound() throws {
    try meet()
    try write("a", "x", 40)
    // The page of the table that has the row, with another one that is well formed.
    let marker = Data("k7\(String(repeating: "x", count: 20))".utf8)
    var whole = try bytes("a")
    let pages = stride(from: 0, to: whole.count, by: 1024)
    func isLeaf(_ place: Int) -> Bool { whole[place] == 10 }
    let found = pages.filter { isLeaf($0) && whole[$0..<$0 + 1024].range(of: marker) != nil }
    let page = try #require(found.first)
    let other = pages.first {
      isLeaf($0) && $0 != page && whole[$0..<$0 + 1024].range(of: Data("cloudk2".utf8)) != nil
    }
    let another = try #require(other)
    whole.replaceSubrange(page..<page + 1024, with: whole[another..<another + 1024])
    try rot("a", whole)
    let before = try bytes("b")
    let error = #expect(throws: KeepsakeError.self) { try merge() }
    #expect(error?.code == .corrupt && error?.path == path("a"), "\(error as Any)")
    #expect(try bytes("b") == before)
    #expect(try !isRemembered("a"), "the next merge reads every page")
  }
}
