// SPDX-License-Identifier: Apache-2.0
//
// Writes to the second device while it meets the first: where their conflicts are found.

import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import Synchronization
import TestSupport
import Testing

@Suite struct RereadingTests {
  private let clock = ManualClock()
  private let devices: [Device]

  init() throws {
    let clock = clock
    devices = try (1...2).map {
      try Device.inMemory(identity: ReplicaID(rawValue: Int64($0)), clock: clock.wallClock)
    }
    try devices[0].merge(with: devices[1])
  }

  private func set(_ place: Int, _ value: String, at milliseconds: Int64 = 0) throws {
    clock.milliseconds += 1
    try devices[place].write([
      LocalWrite(
        store: "cloud", key: "k", value: .string(value),
        wallClock: clock.milliseconds + milliseconds)
    ])
  }

  /// Merges, and writes on the second device each time when the first has read it.
  private func merge(_ times: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let count = Counter()
    var options = MergeOptions()
    options.onProgress = { progress in
      guard progress.into == 0, count.next() <= times else { return }
      #expect(throws: Never.self) { try body(count.value) }
    }
    try devices[0].merge(with: devices[1], options: options)
  }

  private func lost(_ place: Int) throws -> [StoredValue?] {
    try devices[place].conflicts().map(\.lost)
  }

  @Test(arguments: [1, 5])
  func whatIsWrittenMeanwhileIsFoundByTheFirst(times: Int) throws {
    try set(0, "mine")
    try merge(times) { [self] in try set(1, "theirs \($0)") }
    #expect(try lost(0) == ["mine"])
    #expect(try lost(1).isEmpty)
    for device in devices {
      #expect(
        try device.entry(store: "cloud", key: "k")?.content.value == .string("theirs \(times)"))
    }
  }

  @Test func whatIsWrittenMeanwhileAndLosesIsFoundByTheFirst() throws {
    try set(0, "mine", at: 60_000)
    try merge(1) { [self] _ in try set(1, "theirs") }
    #expect(try lost(0) == ["theirs"])
    #expect(try lost(1).isEmpty)
  }

  /// It is in the version vector that the second loads, and not in what it was offered.
  @Test func whatTheFirstWritesAfterItsOfferIsReadBeforeItCountsAsSeen() throws {
    try set(0, "offered")
    let hook = try StatementHook(devices[1], before: "DELETE FROM wanted") { [self] _ in
      #expect(throws: Never.self) { try set(0, "after") }
    }
    try devices[0].merge(with: devices[1])
    try hook.remove()
    #expect(hook.wasRun)
    #expect(try devices[1].entry(store: "cloud", key: "k")?.content.value == "after")
    try set(1, "later")
    try devices[0].merge(with: devices[1])
    #expect(try lost(0) + lost(1) == [])
  }

  @Test func aWriterWithoutAPauseDoesNotKeepAMergeForEver() throws {
    try set(0, "mine")
    try merge(.max) { [self] in try set(1, "theirs \($0)") }
    #expect(try lost(0) + lost(1) == ["mine"])
    try merge(0) { _ in }
    #expect(try lost(0) + lost(1) == ["mine"])
  }
}

private final class Counter: Sendable {
  private let count = Atomic(0)
  var value: Int { count.load(ordering: .relaxed) }
  func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}
