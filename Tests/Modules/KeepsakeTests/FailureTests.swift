// SPDX-License-Identifier: Apache-2.0
//
// A write that fails leaves what is there, and is heard of, whatever the reason; what can be read
// is read on. Every fault is a real one, see `FaultyFile`.

import Foundation
import Keepsake
import TestSupport
import Testing

/// What every store of these tests has.
protocol FaultySettings: SettingsStore {
  var text: String { get set }
  var sound: String { get }
  var setting: Setting<String> { get }
}

/// The ways to write.
enum WriteForm: CaseIterable {
  case property, subscripted, foundation, removal
  case set, reset, update, setForKey, updateKey, transaction

  /// The others report.
  var isThrowing: Bool { ![.property, .subscripted, .foundation, .removal].contains(self) }

  func write(_ text: String, to store: any FaultySettings) throws {
    switch self {
    case .property: store.text = text
    case .subscripted: store["text"] = .string(text)
    case .foundation: store.set(text, forKey: "text")
    case .removal: store.removeObject(forKey: "text")
    case .set: try store.setting.write(text)
    case .reset: try store.setting.reset()
    case .update: try store.setting.update { $0 = text }
    case .setForKey: try store.write(.string(text), for: "text")
    case .updateKey: try store.update("text") { $0 = .string(text) }
    case .transaction:
      try store.transaction {
        try store.write("new", for: "other")
        try store.setting.write(text)
      }
    }
  }
}

@Suite struct FailureTests {
  final class Local: UserDefaultsStore, FaultySettings, @unchecked Sendable {
    @Setting var text = "default"
    @Setting var sound = "default"
    var setting: Setting<String> { $text }
  }

  final class Shared: CloudKeyValueStore, FaultySettings, @unchecked Sendable {
    @Setting var text = "default"
    @Setting var sound = "default"
    var setting: Setting<String> { $text }
  }

  private let log = RecordedLog()
  private let heard = Heard()

  private func open(_ device: Device, isShared: Bool) throws -> any FaultySettings {
    isShared
      ? try Shared(on: device, logger: log.logger)
      : try Local(on: device, arguments: .none, logger: log.logger)
  }

  @Test(.enabled(if: Tmpfs.isPossible, Comment(rawValue: Tmpfs.need)), arguments: [false, true])
  func aWriteThatFindsTheDiskFullLeavesTheValueAndIsHeardOf(isShared: Bool) throws {
    try expectSafety(from: .fullDisk, isShared: isShared)
  }

  @Test(arguments: Fault.usual, [false, true])
  func aWriteThatFailsLeavesTheValueAndIsHeardOf(fault: Fault, isShared: Bool) throws {
    try expectSafety(from: fault, isShared: isShared)
  }

  private func expectSafety(from fault: Fault, isShared: Bool) throws {
    let name = isShared ? "cloud" : "defaults"
    let file = try FaultyFile(store: name, isOnSmallDisk: fault == .fullDisk)
    let device = try file.open(fault == .readOnly ? .readOnly : .existing)
    let store = try open(device, isShared: isShared)
    let observation = store.observe { heard.append($0) }
    try file.cause(fault)
    // Longer than what may be left of the log's last page.
    let text = "secret " + String(repeating: "s", count: 9000)
    for form in WriteForm.allCases where fault != .fullDisk || ![.removal, .reset].contains(form) {
      try expectFailure(of: form, text, on: store, fault, "\(file.path): \(fault.complaint)")
      if fault != .damagedPage { try expectReading(store, "\(fault) \(form)") }
      #expect(store.sound == "whole")
    }
    #expect(heard.sets.isEmpty)
    #expect(!log.lines.contains { $0.text.contains("secret") || $0.text.contains("needle") })
    #expect(store.failures.count == log.lines.count)

    try file.mend(fault)
    let writable =
      fault == .readOnly ? try open(file.open(.existing), isShared: isShared) : store
    try expectReading(store, "\(fault) is over")
    let count = log.lines.count
    writable.text = "after"
    #expect(store.text == "after")
    #expect(try file.value("text") == "after\n" && file.value("other") == "")
    #expect(heard.sets.map { $0.map(\.key) } == [["text"]])
    #expect(heard.sets.first?.map(\.old) == ["needle"])
    #expect(log.lines.count == count)
    observation.cancel()
  }

  private func expectFailure(
    of form: WriteForm, _ text: String, on store: any FaultySettings, _ fault: Fault,
    _ complaint: String
  ) throws {
    let name = store.storeName
    func writes() -> [SettingFailure] { store.failures.filter { $0.operation == .write } }
    func lines() -> [RecordedLog.Line] { log.lines.filter { $0.text.contains("be written") } }
    let before = (writes().count, lines().count)
    guard !form.isThrowing else {
      let error = #expect(throws: KeepsakeError.self, "\(fault) \(form)") {
        try form.write(text, to: store)
      }
      #expect(error?.code == fault.code && error?.description == complaint, "\(fault) \(form)")
      #expect(writes().count == before.0 && lines().count == before.1, "\(fault) \(form)")
      return
    }
    try form.write(text, to: store)
    #expect(writes().count == before.0 + 1 && lines().count == before.1 + 1, "\(fault) \(form)")
    let failure = try #require(writes().last, "\(fault) \(form)")
    #expect(failure.store == name && failure.key == "text" && failure.storedType == nil)
    #expect((failure.cause as? KeepsakeError)?.code == fault.code)
    #expect(
      failure.description == "\(name)/text: the setting could not be written: \(complaint)")
    #expect(lines().last == RecordedLog.Line(level: .error, text: "\(failure) [:]"))
  }

  /// Every way to read gives what was there before.
  private func expectReading(_ store: any FaultySettings, _ comment: Comment) throws {
    #expect(store.text == "needle", comment)
    #expect(store["text"] == "needle" && store.string(forKey: "text") == "needle", comment)
    #expect(try store.read("text") == "needle", comment)
    #expect(try store.setting.read() == "needle", comment)
    #expect(try store.explain("text").inForce?.value == "needle", comment)
    #expect(store.dictionaryRepresentation().count == 202, comment)
  }

  // MARK: - Reading

  @Test func whatIsOnADamagedPageIsReportedAndTheRestIsRead() throws {
    let file = try FaultyFile()
    let store = try open(file.open(), isShared: false)
    try file.damage()
    let complaint = "\(file.path): \(Fault.damagedPage.complaint)"
    for _ in 0..<3 {
      #expect(store.text == "default")
      #expect(store["text"] == nil && store.string(forKey: "text") == nil)
      #expect(store.sound == "whole" && store["spacer 3"] == 3)
    }
    #expect(
      store.failures.map(\.description)
        == ["defaults/text: the setting could not be read: \(complaint)"])
    #expect(store.dictionaryRepresentation().isEmpty && store.dictionaryRepresentation().isEmpty)
    #expect(
      store.failures.dropFirst().map(\.description)
        == ["defaults: the settings could not be read: \(complaint)"])
    #expect(log.lines == store.failures.map { .init(level: .error, text: "\($0) [:]") })
    let reads: [() throws -> Void] = [
      { _ = try store.read("text") }, { _ = try store.setting.read() },
      { _ = try store.explain("text") },
    ]
    for read in reads {
      let error = #expect(throws: KeepsakeError.self) { try read() }
      #expect(error?.code == .corrupt && error?.description == complaint)
    }
    #expect(store.failures.count == 2)
    try file.mend(.damagedPage)
    #expect(store.text == "needle" && store["text"] == "needle")
    #expect(store.dictionaryRepresentation()["text"] == "needle")
  }

  @Test func aValueThatCannotBeReadIsReadFromTheFileOnce() throws {
    let device = try Device.temporary()
    let store = try Local(on: device, arguments: .none, logger: log.logger)
    let newer = OpaqueValue(TaggedCell(tag: 99, cell: .text("newer")))
    try device.write([
      LocalWrite(store: "defaults", key: "text", value: 5),
      LocalWrite(store: "defaults", key: "newer", value: .opaque(newer)),
    ])
    @Sendable func read() { _ = (store.text, store.string(forKey: "newer")) }
    read()
    #expect(store.failures.map(\.key) == ["text", "newer"])
    // While another thread has the connection.
    try device.tables.access { _ in #expect(ends { read() }) }
    #expect(store.failures.count == 2)
    store["newer"] = 1
    store["text"] = 6
    read()
    #expect(store.failures.map(\.key) == ["text", "newer", "text"])
  }

  @Test func anObserverOfADamagedFileHearsWhyAndLaterWhatHasChanged() throws {
    let file = try FaultyFile()
    let store = try open(file.open(), isShared: false)
    try file.damage()
    let observation = store.observe { heard.append($0) }
    #expect(
      store.failures.map(\.description) == [
        "defaults: changes by other processes could not be read: "
          + "\(file.path): \(Fault.damagedPage.complaint)"
      ])
    #expect(store.failures.map(\.operation) == [.observe])
    try file.mend(.damagedPage)
    try file.shell("UPDATE entry SET value = 'theirs' WHERE key = 'text'")
    store.text = "ours"
    #expect(heard.wait { $0.last?.new == "ours" })
    observation.cancel()
  }

  @Test func theValuesOfASettingThatCannotBeReadAreItsDefaultUntilItCan() async throws {
    let file = try FaultyFile()
    let store = try open(file.open(), isShared: false)
    try file.damage()
    var values = store.setting.values.makeAsyncIterator()
    #expect(await values.next() == "default")
    #expect(store.failures.contains { $0.operation == .read && $0.key == "text" })
    try file.mend(.damagedPage)
    store.text = "after"
    #expect(await values.next() == "after")
  }

  // MARK: - Waiting

  @Test func aSetterWaitsForAnotherProcessForASecondAtMost() throws {
    let patience = Duration.seconds(300)
    let file = try FaultyFile(busyTimeout: patience)
    let store = try open(file.open(), isShared: false)
    try file.cause(.locked)
    let time = ContinuousClock().measure { store.text = "after" }
    #expect(time >= Device.setterTimeout && time < patience)
    #expect(store.failures.map(\.operation) == [.write])
  }

  @Test func whatThrowsWaitsAsLongAsTheDeviceDoes() throws {
    let file = try FaultyFile(busyTimeout: .milliseconds(1300))
    let store = try open(file.open(), isShared: false)
    try file.cause(.locked)
    let time = ContinuousClock().measure {
      #expect(throws: KeepsakeError.self) { try store.setting.write("after") }
    }
    #expect(time >= .milliseconds(1300))
  }
}
