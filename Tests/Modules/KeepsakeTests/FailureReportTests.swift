// SPDX-License-Identifier: Apache-2.0
//
// What is reported of values that cannot be read, how much of it is kept, and what happens to those
// who come when the file is in a bad way already.

import Foundation
import Keepsake
import TestSupport
import Testing

@Suite struct FailureReportTests {
  final class Local: UserDefaultsStore, @unchecked Sendable {
    @Setting var text = "default"
    @Setting var sound = "default"
    @Setting var limited: Int8 = 1
  }

  private let log = RecordedLog()

  private func open(_ device: Device) throws -> Local {
    try Local(on: device, arguments: .none, logger: log.logger)
  }

  // MARK: - Reports

  @Test func aValueOfAnotherTypeIsReportedOnceForEachVersionAndStays() throws {
    let store = try open(.inMemory())
    for (value, kind) in [(5, .integer), (6, .integer), ([1], .array)]
      as [(StoredValue, StoredValue.Kind)]
    {
      store["text"] = value
      let count = store.failures.count
      for _ in 0..<3 { #expect(store.text == "default") }
      #expect(store.failures.count == count + 1 && log.lines.count == count + 1)
      let failure = try #require(store.failures.last)
      #expect(failure.operation == .read && failure.key == "text" && failure.storedType == kind)
      #expect((failure.cause as? ValueError)?.code == .typeMismatch)
      let start =
        "defaults/text: the setting could not be read from the \(kind.rawValue) that is stored: "
      #expect(failure.description.hasPrefix(start))
      #expect(throws: SettingFailure.self) { try store.$text.read() }
      #expect(store["text"] == value && store.failures.count == count + 1)
    }
    store.text = "sound"
    #expect(store.text == "sound" && store.failures.count == 3)
  }

  @Test func whatIsOutOfRangeIsReportedWithoutItsValue() throws {
    let store = try open(.inMemory())
    store["limited"] = 31_337
    #expect(store.limited == 1)
    #expect(store.failures.map(\.storedType) == [.integer])
    #expect(!log.lines.contains { $0.text.contains("31337") || $0.text.contains("31,337") })
  }

  @Test func theLastHundredFailuresAreKeptAndAllAreLogged() throws {
    let device = try Device.temporary()
    let store = try open(Device(path: device.path, access: .readOnly))
    for number in 0..<103 { store["k\(number)"] = 1 }
    #expect(store.failures.map(\.key) == (3..<103).map { "k\($0)" })
    #expect(log.lines.count == 103)
  }

  // MARK: - At open

  @Test func aPageThatWasDamagedBeforeIsReportedWhenItIsMet() throws {
    let file = try FaultyFile()
    try file.damage()
    let store = try open(file.open())
    #expect(store.sound == "whole" && store.failures.isEmpty)
    #expect(store.text == "default")
    #expect(store.failures.map(\.key) == ["text"])
    store.sound = "still"
    #expect(store.sound == "still" && store.failures.count == 1)
  }

  @Test func noSeedsAreWrittenIntoAFileThatANewerVersionHasTakenOver() throws {
    let file = try FaultyFile()
    let device = try file.open()
    try file.cause(.newerSchema)
    let seed = DefaultValue(key: "seed", value: 1, source: "s")
    expectError(.newerSchema) { try device.seed(store: "defaults", bundle: "b", [seed]) }
    #expect(try file.shell("SELECT count(*) FROM default_value") == "0\n")
  }
}
