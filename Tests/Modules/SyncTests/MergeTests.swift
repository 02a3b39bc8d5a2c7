// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import Synchronization
import TestSupport
import Testing

@Suite struct MergeTests: ManualClockSuite {
  let clock = ManualClock()

  private func devices(_ count: Int) throws -> [Device] {
    try (1...count).map {
      try Device.inMemory(identity: ReplicaID(rawValue: Int64($0)), clock: clock.wallClock)
    }
  }

  @Test func aSecondMergeReadsNothing() throws {
    let d = try devices(2)
    for index in 0..<10 { try set(d[index % 2], "k\(index)", .integer(Int64(index))) }
    let first = try d[0].merge(with: d[1])
    #expect(first.transfers.map(\.received) == [5, 5])
    #expect(first.transfers.map(\.changed) == [5, 5])
    let second = try d[0].merge(with: d[1])
    #expect(second.transfers.map(\.received) == [0, 0])
    #expect(second.hasConverged && first.hasConverged)
  }

  @Test func onlyWhatChangedSinceIsRead() throws {
    let d = try devices(2)
    for index in 0..<100 { try set(d[0], "k\(index)", 1) }
    try d[0].merge(with: d[1])
    try set(d[1], "k7", 2)
    let report = try d[0].merge(with: d[1])
    #expect(report.transfers.map(\.received) == [1, 0])
    #expect(report.changes.map(\.change.key) == ["k7"])
    #expect(report.changes.map(\.into) == [0])
  }

  @Test func aWriteReachesADeviceThroughAThird() throws {
    let d = try devices(3)
    try set(d[0], "k", "first")
    try d[0].merge(with: d[1])
    try d[1].merge(with: d[2])
    #expect(try d[2].value("k") == "first")
    #expect(try d[2].entry(store: "cloud", key: "k")?.replicaID == d[0].replica())
  }

  @Test func manyDevicesSyncInAStarAndAllHoldTheSame() throws {
    let d = try devices(4)
    for index in d.indices { try set(d[index], "k\(index)", 1) }
    let report = try d[0].merge(with: d[1], d[2], d[3])
    #expect(report.transfers.map(\.from) == [1, 2, 3, 0, 0, 0])
    #expect(report.transfers.map(\.into) == [0, 0, 0, 1, 2, 3])
    #expect(report.hasConverged)
    for device in d {
      for index in d.indices { #expect(try device.value("k\(index)") == 1) }
    }
    let again = try d[0].merge(with: d[1], d[2], d[3])
    #expect(again.transfers.allSatisfy { $0.received == 0 })
  }

  @Test func aDeletionTravelsAndBeatsAnOlderWrite() throws {
    let d = try devices(2)
    try set(d[0], "k", 1)
    try d[0].merge(with: d[1])
    try set(d[1], "k", nil)
    let report = try d[0].merge(with: d[1])
    #expect(try d[0].value("k") == nil)
    #expect(report.changes.map(\.change.new) == [nil])
    #expect(report.transfers.map(\.conflicts) == [0, 0])
  }

  @Test func onlyNamedStoresAreMergedWhenSomeAreNamed() throws {
    let d = try devices(2)
    for store in ["cloud", "cloud:a", "defaults"] {
      try d[0].write([LocalWrite(store: store, key: "k", value: 1)])
    }
    try d[0].merge(with: d[1], options: MergeOptions(stores: ["defaults"]))
    #expect(try d[1].stores() == ["defaults"])
    try d[0].merge(with: d[1])
    #expect(try d[1].stores() == ["cloud", "cloud:a", "defaults"])
  }

  @Test func unknownTypesSurviveTheTrip() throws {
    let d = try devices(2)
    let content = TaggedCell(tag: 77, cell: .blob(Data([1, 2])))
    try d[0].write([LocalWrite(store: "cloud:new", key: "k", value: content.value)])
    try d[0].merge(with: d[1])
    #expect(try d[1].entry(store: "cloud:new", key: "k")?.content == content)
  }

  @Test func storesWhoseNamesDifferOnlyInBytesAreTwo() throws {
    let d = try devices(2)
    for store in ["cloud:é", "cloud:e\u{301}"] {
      try d[0].write([LocalWrite(store: store, key: "k", value: 1)])
    }
    try d[0].merge(with: d[1], options: MergeOptions(stores: ["cloud", "cloud", "cloud:é"]))
    #expect(try d[1].stores().count == 1)
    #expect(try d[0].merge(with: d[1]).hasConverged)
    #expect(try d[1].stores().count == 2)
  }

  /// It has no tombstones, and is read whole each time.
  @Test func aDeletionInALocalStoreIsUndoneByAMergeThatNamesTheStore() throws {
    let d = try devices(2)
    let options = MergeOptions(stores: ["defaults"])
    try d[0].write([LocalWrite(store: "defaults", key: "k", value: 1)])
    #expect(try d[0].merge(with: d[1], options: options).hasConverged)
    try d[0].write([LocalWrite(store: "defaults", key: "k", value: nil)])
    #expect(try d[0].merge(with: d[1], options: options).hasConverged)
    #expect(try d[0].entry(store: "defaults", key: "k")?.content.value == 1)
  }

  @Test func mergesInManyThreadsTakeTurns() async throws {
    let d = try devices(3)
    for index in d.indices { try set(d[index], "k\(index)", 1) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<12 {
        group.addTask { try d[index % 3].merge(with: d[(index + 1) % 3]) }
      }
      try await group.waitForAll()
    }
    #expect(try d[0].merge(with: d[1], d[2]).hasConverged)
    for device in d { for index in d.indices { #expect(try device.value("k\(index)") == 1) } }
  }

  @Test func anObserverOfAMergeMayMerge() throws {
    let d = try devices(3)
    try set(d[0], "k", 1)
    let observation = d[1].observe { _ in
      #expect(throws: Never.self) { try d[1].merge(with: d[2]) }
    } onFailure: {
      Issue.record($0)
    }
    #expect(try d[0].merge(with: d[1]).hasConverged)
    observation.cancel()
    #expect(try d[2].value("k") == 1)
  }

  @Test func withinAMergeNoneBeginsAndTheMergeGoesOn() throws {
    let d = try devices(3)
    try set(d[0], "k", 1)
    let codes = Mutex<[KeepsakeError.Code]>([])
    var options = MergeOptions()
    options.onProgress = { _ in
      let error = #expect(throws: KeepsakeError.self) { try d[1].merge(with: d[2]) }
      codes.withLock { $0 += error.map { [$0.code] } ?? [] }
    }
    #expect(try d[0].merge(with: d[1], options: options).hasConverged)
    #expect(Set(codes.withLock { $0 }) == [.locked])
    #expect(try d[2].value("k") == nil)
  }

  @Test func aMergeWithinATransactionIsRefusedAndDoesNoHarm() throws {
    let d = try devices(2)
    try set(d[0], "k", 1)
    for devices in [[d[0], d[1]], [d[1], d[0]]] {
      expectError(.locked) { try d[0].transaction { _ = try devices[0].merge(with: devices[1]) } }
    }
    #expect(try d[0].merge(with: d[1]).hasConverged)
    #expect(try d[1].value("k") == 1)
  }

  @Test func observersThatAnswerEachOtherDoNotKeepAMergeForEver() throws {
    let d = try devices(2)
    let tokens = d.map { device in
      device.observe { changes in
        guard changes.contains(where: { $0.reason != .local }) else { return }
        #expect(throws: Never.self) {
          let count = try device.entry(store: "cloud", key: "k")?.content.value?.integer ?? 0
          try device.write([LocalWrite(store: "cloud", key: "k", value: .integer(count + 1))])
        }
      } onFailure: {
        Issue.record($0)
      }
    }
    try set(d[0], "k", 1)
    for round in 1...4 {
      #expect(try d[0].merge(with: d[1]).hasConverged)
      #expect(try d[round % 2].value("k") == .integer(Int64(round + 1)))
    }
    for token in tokens { token.cancel() }
    #expect(try d[0].merge(with: d[1]).hasConverged)
    #expect(try d[0].value("k") == d[1].value("k"))
  }

  @Test func theSameFileTwiceIsRefused() throws {
    let d = try devices(1)
    expectError(.sameFile) { try d[0].merge(with: d[0]) }
  }

  @Test func observersHearOneChangeSetPerChunkWithEveryChange() throws {
    let d = try devices(2)
    for index in 0..<10 { try set(d[0], "k\(index)", 1) }
    let heard = Heard()
    let observation = heard.observe(d[1])
    let report = try d[0].merge(
      with: d[1], options: MergeOptions(changeLimit: 3, chunkSize: 4))
    observation.cancel()
    #expect(heard.sets.map(\.count) == [4, 4, 2])
    #expect(report.changes.count == 3 && report.isTruncated)
  }
}

extension StoredValue {
  fileprivate var integer: Int64? {
    if case .integer(let number) = self { number } else { nil }
  }
}
