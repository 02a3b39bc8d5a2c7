// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import KeepsakeDevice
import KeepsakeTesting
import KeepsakeValues
import Testing

@Suite struct SimulatedDevicesTests {
  private let devices: SimulatedDevices
  init() throws { devices = try SimulatedDevices(count: 2) }

  private func shared(_ device: Device) throws -> SharedSettings { try SharedSettings(on: device) }

  @Test func exchangeGoesBothWays() throws {
    let devices = try SimulatedDevices(count: 3)
    try shared(devices[0]).theme = .dark
    try shared(devices[1]).volume = 1
    let report = try devices.merge(0, 1)
    #expect(report.hasConverged)
    #expect(report.transfers.map(\.changed) == [1, 1])
    for place in 0..<2 {
      #expect(try shared(devices[place]).theme == .dark)
      #expect(try shared(devices[place]).volume == 1)
    }
    #expect(try shared(devices[2]).volume == 5)
    #expect(
      try devices.differences() == [
        "cloud/theme: device 0 has \"dark\", device 2 has nothing",
        "cloud/volume: device 0 has 1, device 2 has nothing",
      ])
    #expect(try devices.settle() == 2)
    #expect(try devices.differences().isEmpty)
  }

  @Test func ofTwoWritesTheSecondIsTheLater() throws {
    for seed in 1...20 as ClosedRange<UInt64> {
      let devices = try SimulatedDevices(count: 2, seed: seed)
      let order = [0, 1].shuffled(using: &devices.random)
      try shared(devices[order[0]]).volume = 1
      try shared(devices[order[1]]).volume = 2
      try devices.settle()
      #expect(try devices.map { try shared($0).volume } == [2, 2], "seed \(seed)")
    }
  }

  @Test func aClockThatIsBehindLoses() throws {
    devices.clocks[1].advance(by: .seconds(-60))
    try shared(devices[0]).volume = 1
    try shared(devices[1]).volume = 2
    try devices.settle()
    #expect(try devices.map { try shared($0).volume } == [1, 1])
    #expect(devices.clocks[0].now.timeIntervalSince(devices.clocks[1].now) == 60)
  }

  @Test func aCopyIsTheSameFileUntilTheySync() throws {
    let settings = try shared(devices[0])
    settings.theme = .dark
    devices.clocks[0].advance(by: .seconds(30))
    let twin = try devices.copy(0)
    #expect(twin == 2 && devices.count == 3)
    #expect(try devices[twin].replica() == devices[0].replica())
    #expect(try entries(devices[twin]) == entries(devices[0]))
    #expect(devices.clocks[2].now == devices.clocks[0].now)
    settings.volume = 1  // who has the original open goes on
    try shared(devices[twin]).volume = 2
    #expect(try devices.merge(0, 1).events.isEmpty)
    #expect(try devices.merge(0, twin).events == [.newReplicaID(device: 1, reason: .copy)])
    #expect(try devices[twin].replica() != devices[0].replica())
    try devices.settle()
    #expect(settings.volume == 2)
  }

  @Test func whatIsRestoredHasForgotten() throws {
    try shared(devices[0]).volume = 1
    let old = try devices.snapshot(0)
    try shared(devices[0]).volume = 2
    try devices.merge(0, 1)
    let stale = try shared(devices[0])
    try devices.restore(0, to: old)
    #expect(try shared(devices[0]).volume == 1)
    #expect(throws: KeepsakeError.self) { try stale.$volume.write(3) }
    try devices.settle()
    #expect(try shared(devices[0]).volume == 2)
    try devices.restore(1, to: old)
    try devices.restore(0, to: old)
    try devices.settle()
    #expect(try devices.map { try shared($0).volume } == [1, 1])
  }

  @Test func theFolderGoesWithTheLastDevice() throws {
    var devices: SimulatedDevices? = try SimulatedDevices(count: 2)
    var device = devices?[1]
    _ = try devices?.copy(0)
    let path = try #require(device).path
    devices = nil
    try AppSettings(on: #require(device)).$username.write("ada")
    device = nil
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    #expect(!FileManager.default.fileExists(atPath: folder))
    #expect(devices == nil)
  }

  @Test func theyDoNotSettleWhileTheFutureWaits() throws {
    let devices = try SimulatedDevices(count: 2, seed: 7)
    devices.clocks[1].advance(by: .seconds(3600))
    try shared(devices[1]).volume = 1
    let error = #expect(throws: SimulatedDevices.NotSettled.self) { try devices.settle() }
    #expect(
      error?.description == """
        seed 7: the devices do not settle
        cloud/volume: device 0 has nothing, device 1 has 1
        device 0 does not read 1 entries from the future until its clock reaches them; advance \
        it, or correct the fast clock
        after: merge 0 1
        """)
    devices.clocks[0].advance(by: .seconds(3600))
    try devices.settle()
  }

  @Test func theyDoNotSettleWhileAnEqualValueWaits() throws {
    try shared(devices[0]).volume = 1
    devices.clocks[1].advance(by: .seconds(3600))
    try shared(devices[1]).volume = 1
    #expect(throws: SimulatedDevices.NotSettled.self) { try devices.settle() }
    #expect(try devices.differences().isEmpty)
  }

  @Test func whatResolvesConflictsIsWaitedFor() throws {
    let settings = try devices.map(shared)
    for round in 1...20 {
      let token = settings[0].resolveConflicts { [mine = settings[0]] conflict in
        guard let lost = try mine.$volume.lost(in: conflict) else { return }
        mine.volume = max(mine.volume, lost)
      }
      settings[0].volume = round + 100
      settings[1].volume = round
      try devices.settle()
      #expect(settings.map(\.volume) == [round + 100, round + 100])
      token.cancel()
    }
  }

  @Test func aResolverThatDoesNotEndIsNamed() throws {
    let devices = try SimulatedDevices(count: 2, seed: 7)
    let settings = try devices.map(shared)
    let mayEnd = DispatchSemaphore(value: 0)
    settings[0].volume = 1
    settings[1].volume = 2
    try devices.merge(0, 1)
    let token = settings[0].resolveConflicts { _ in mayEnd.wait() }
    let error = #expect(throws: SimulatedDevices.NotSettled.self) {
      try devices.settle(resolving: .milliseconds(1))
    }
    #expect(
      error?.description == """
        seed 7: resolveConflicts on device 0 did not end within 0.001 seconds
        after: merge 0 1
        """)
    mayEnd.signal()
    try devices.settle()
    token.cancel()
  }

  @Test func theySettleWithinTheRoundsOrSaySo() throws {
    let devices = try SimulatedDevices(count: 2, seed: 7)
    try shared(devices[1]).volume = 1
    let error = #expect(throws: SimulatedDevices.NotSettled.self) {
      try devices.settle(within: 1)
    }
    #expect(error?.description.contains("after 1 rounds they still change") == true)
    #expect(try SimulatedDevices(count: 1).settle() == 1)
  }

  private func entries(_ device: Device) throws -> [Entry] {
    var entries: [Entry] = []
    try device.forEachEntry { entries.append($0) }
    return entries
  }
}
