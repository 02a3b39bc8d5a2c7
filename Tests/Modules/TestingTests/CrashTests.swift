// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import KeepsakeDevice
import KeepsakeTesting
import KeepsakeValues
import TestSupport
import Testing

@Suite struct CrashTests {
  private let devices: SimulatedDevices

  init() throws {
    devices = try SimulatedDevices(count: 2)
  }

  private func size(_ suffix: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: devices[0].path + suffix)
    return try #require(attributes[.size] as? Int)
  }

  @Test func whatIsCommittedIsThereAndTheLogWasNotEmptied() throws {
    let path = devices[0].path
    try SharedSettings(on: devices[0]).volume = 1
    #expect(try size("-wal") > 0)
    // In a process of their own: in this one they would drop SQLite's locks.
    for suffix in ["", "-wal"] {
      #expect(
        try Command.run(Command.find("cp"), [path + suffix, path + suffix + ".copy"]).code == 0)
    }
    try devices.crash(0)
    for suffix in ["", "-wal"] {
      let ending = try Command.run(
        Command.find("cmp"), [path + suffix, path + suffix + ".copy"])
      #expect(ending == Ending(), "\(ending)")
    }
    #expect(devices[0].path == path)
    #expect(try SharedSettings(on: devices[0]).volume == 1)
    #expect(try devices[0].replica() != devices[1].replica())
  }

  @Test func anUncommittedTransactionIsGone() throws {
    struct Off: Error {}
    let settings = try SharedSettings(on: devices[0])
    settings.volume = 1
    #expect(throws: Off.self) {
      try settings.transaction {
        settings.volume = 2
        // More than SQLite keeps in memory, so that the log has some of it, without a commit.
        for number in 0..<50 {
          settings["large \(number)"] = .string(String(repeating: "x", count: 100_000))
        }
        #expect(settings.failures.isEmpty)
        try devices.crash(0)
        throw Off()
      }
    }
    let reopened = try SharedSettings(on: devices[0])
    #expect(reopened.volume == 1)
    #expect(reopened["large 0"] == nil)
    try devices[0].checkIntegrity()
  }

  @Test func aTransactionThatOutlivesTheCrashFailsAndLeavesNothing() throws {
    let settings = try SharedSettings(on: devices[0])
    #expect(throws: KeepsakeError.self) {
      try settings.transaction {
        settings.volume = 2
        try devices.crash(0)
        settings.volume = 3
      }
    }
    #expect(try SharedSettings(on: devices[0]).volume == 5)
  }

  @Test func aStoreFromBeforeTheCrashReadsAndCannotWrite() throws {
    let stale = try SharedSettings(on: devices[0])
    stale.volume = 1
    try devices.crash(0)
    try SharedSettings(on: devices[0]).volume = 2
    #expect(stale.volume == 1)
    expectError(.inputOutput) { try stale.$volume.write(3) }
    #expect(try SharedSettings(on: devices[0]).volume == 2)
  }

  @Test func aStoreFromBeforeTheCrashDoesNoHarmWhenItGoes() throws {
    var stale: SharedSettings? = try SharedSettings(on: devices[0])
    stale?.volume = 1
    try devices.crash(0)
    let settings = try SharedSettings(on: devices[0])
    for number in 2...20 { settings.volume = number }
    #expect(stale?.volume == 1)
    stale = nil  // closes the last connection to the old file
    let before = try size("-wal")
    #expect(before > 0)
    settings.volume = 21
    try devices.crash(0)
    #expect(try SharedSettings(on: devices[0]).volume == 21)
    try devices[0].checkIntegrity()
    try devices.settle()
    #expect(try SharedSettings(on: devices[1]).volume == 21)
  }

  @Test func aCrashInTheMiddleOfAnExchangeLosesNothing() throws {
    for crashed in 0..<2 {
      let devices = try SimulatedDevices(count: 2)
      for place in 0..<2 {
        let settings = try SharedSettings(on: devices[place])
        for number in 0..<10 { settings["\(place) \(number)"] = .integer(Int64(number)) }
      }
      let crasher = Crasher(devices)
      var options = MergeOptions(chunkSize: 3)
      options.onProgress = { _ in crasher.crash(crashed) }
      expectError(.inputOutput) { try devices.merge(0, 1, options: options) }
      try devices.settle()
      for place in 0..<2 {
        let settings = try SharedSettings(on: devices[place])
        for key in (0..<10).flatMap({ ["0 \($0)", "1 \($0)"] }) {
          #expect(settings[key] != nil, "\(key) on \(place)")
        }
      }
    }
  }

  @Test func manyCrashesInARowAreSurvived() throws {
    for number in 0..<50 {
      try SharedSettings(on: devices[0]).volume = number
      try devices.crash(0)
      #expect(try SharedSettings(on: devices[0]).volume == number)
    }
    try devices[0].checkIntegrity()
  }

  @Test func theFilesAreTheirOwnersAlone() throws {
    try devices.crash(0)
    for suffix in ["", "-wal"] {
      let attributes = try FileManager.default.attributesOfItem(
        atPath: devices[0].path + suffix)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
  }
}

/// Crashes a device once, on the thread that merges.
// Sendable: only used by the test's own thread, on which observers of its merges run.
private final class Crasher: @unchecked Sendable {
  private var devices: SimulatedDevices?

  init(_ devices: SimulatedDevices) { self.devices = devices }

  func crash(_ place: Int) {
    guard let devices else { return }
    self.devices = nil
    #expect(throws: Never.self) { try devices.crash(place) }
  }
}
