// SPDX-License-Identifier: Apache-2.0

import HubSupport
import KeepsakeDevice
import KeepsakeHubServer
import KeepsakeSync
import KeepsakeTesting
import KeepsakeValues
import TestSupport
import Testing

/// Rows of a device whose clock is ahead, which wait at a hub, and what others write meanwhile.
@Suite struct HubHeldTests {
  private static let minute: Int64 = 60_000

  /// The hub's too.
  private let clock = ManualClock()
  private let ahead = ManualClock()
  private let line: CountedHub
  /// Its clock is ten minutes ahead.
  private let phone: Device
  private let laptop: Device
  private let tablet: Device
  /// As the phone's.
  private let watch: Device

  init() throws {
    ahead.milliseconds = clock.milliseconds + 10 * Self.minute
    line = CountedHub(MemoryHub(ReplicaID(rawValue: 9)), clock)
    func device(_ number: Int64, _ clock: ManualClock) throws -> Device {
      try Device.inMemory(identity: ReplicaID(rawValue: number), clock: clock.wallClock)
    }
    (phone, laptop) = (try device(1, ahead), try device(2, clock))
    (tablet, watch) = (try device(3, clock), try device(4, ahead))
    for device in all { try meet(device) }
  }

  private var all: [Device] { [phone, laptop, tablet, watch] }

  private func pass(minutes: Int64) {
    for clock in [clock, ahead] { clock.milliseconds += minutes * Self.minute }
  }

  private func set(_ device: Device, _ value: StoredValue?, key: String = "theme") throws {
    for clock in [clock, ahead] { clock.milliseconds += 1 }
    try device.write([LocalWrite(store: "cloud", key: key, value: value)])
  }

  @discardableResult
  private func meet(_ devices: Device...) throws -> MergeReport {
    var generator = SystemRandomNumberGenerator()
    let reports = try devices.map {
      try Merge.run($0, with: line, options: MergeOptions(), using: &generator)
    }
    return try #require(reports.last)
  }

  private func value(_ device: Device, key: String = "theme") throws -> StoredValue? {
    try device.entry(store: "cloud", key: key)?.content.value
  }

  /// Lets everybody meet, and expects that all have a value, and that all logs together have these.
  private func settle(
    on value: StoredValue, lost: [StoredValue], at place: SourceLocation = #_sourceLocation
  ) throws {
    for _ in 0..<2 { for device in all { try meet(device) } }
    for device in all {
      #expect(try self.value(device) == value, sourceLocation: place)
      #expect(try meet(device).hasConverged, sourceLocation: place)
    }
    #expect(line.hub.rows.map(\.entry.content.value).contains(value), sourceLocation: place)
    let found = try all.flatMap { try $0.conflicts().map(\.lost) }
    #expect(found == lost, sourceLocation: place)
    #expect(line.hub.account.rows == line.hub.rows.count, sourceLocation: place)
  }

  @Test func whatItReplacesIsLoggedOnceByTheDeviceThatWroteIt() throws {
    try set(phone, "dark")
    #expect(try meet(phone).transfers.map(\.held) == [1, 0])
    try set(laptop, "light")
    try meet(laptop, tablet)
    pass(minutes: 20)
    for device in [laptop, tablet] {
      let report = try meet(device)
      #expect(!report.hasConverged && report.conflicts.isEmpty)
      #expect(try value(device) == "light")
    }
    #expect(line.hub.held.count == 1)
    #expect(try meet(phone).conflicts.map(\.conflict.lost) == ["light"])
    // It comes in with the next request, whoever makes it.
    #expect(try meet(tablet).conflicts.isEmpty)
    #expect(try value(tablet) == "dark" && line.hub.held.isEmpty)
    try settle(on: "dark", lost: ["light"])
  }

  @Test func whoHasReadWhatItReplacesBeforeItIsDueNeedNotComeAgain() throws {
    try set(phone, "dark")
    try meet(phone)
    try set(laptop, "light")
    try meet(laptop)
    #expect(try meet(phone, phone).conflicts.isEmpty)
    #expect(try phone.conflicts().map(\.lost) == ["light"])
    pass(minutes: 20)
    try meet(laptop)
    #expect(try value(laptop) == "dark")
    try settle(on: "dark", lost: ["light"])
  }

  @Test func whatItsWriterHadReadFromTheHubDoesNotKeepItWaiting() throws {
    try set(laptop, "light")
    try meet(laptop, phone)
    try set(phone, "dark")
    try meet(phone)
    pass(minutes: 20)
    try meet(laptop)
    #expect(try value(laptop) == "dark" && line.hub.held.isEmpty)
    try settle(on: "dark", lost: [])
  }

  @Test func whatItsWriterHadReadFromAFileIsNoConflict() throws {
    try set(laptop, "light")
    try phone.merge(with: laptop)
    try set(phone, "dark")
    try meet(phone)
    try set(laptop, "x", key: "font")
    try meet(laptop)
    #expect(line.hub.held.count == 1 && line.hub.rows.count == 2)
    pass(minutes: 20)
    try meet(laptop, phone)
    try settle(on: "dark", lost: [])
  }

  @Test func whatItsWriterReplacedIsDecided() throws {
    try set(phone, "dark")
    try meet(phone)
    for value in ["light", "sepia"] {
      try set(laptop, .string(value))
      try meet(laptop)
    }
    pass(minutes: 20)
    try meet(laptop, phone)
    try settle(on: "dark", lost: ["sepia"])
  }

  @Test func aRowThatLosesWhileItWaitsForItsDeviceIsAConflict() throws {
    try writeSepiaMeanwhile()
    // No longer does anything wait that will come in.
    #expect(try meet(tablet).hasConverged)
    #expect(line.hub.held.count == 1 && line.hub.rows.count == 1)
    try set(tablet, "x", key: "font")
    #expect(try meet(tablet).hasConverged)
    #expect(try meet(phone).conflicts.map(\.conflict.lost) == ["dark"])
    try settle(on: "sepia", lost: ["dark"])
    #expect(line.hub.held.isEmpty)
  }

  @Test func aRowThatHasLostAndWasGivenUpIsAConflictWhenItsDeviceComes() throws {
    try writeSepiaMeanwhile()
    try line.hub.retire(phone.replica())
    try meet(laptop)
    #expect(line.hub.held.isEmpty && line.hub.account.rows == 1)
    #expect(try meet(phone).conflicts.map(\.conflict.lost) == ["dark"])
    try settle(on: "sepia", lost: ["dark"])
  }

  /// The phone writes ahead of time, the laptop before that and the tablet after it.
  private func writeSepiaMeanwhile() throws {
    try set(phone, "dark")
    try meet(phone)
    try set(laptop, "light")
    try meet(laptop, tablet)
    pass(minutes: 20)
    try set(tablet, "sepia")
    try meet(tablet)
  }

  @Test func whoeverHasReadItReplacesItWithoutAConflict() throws {
    try set(phone, "dark")
    try meet(phone)
    pass(minutes: 20)
    try meet(laptop)
    try set(laptop, "sepia")
    try meet(laptop)
    #expect(try meet(phone).conflicts.isEmpty)
    try settle(on: "sepia", lost: [])
  }

  @Test func itsDeviceNeedNotReadWhatItHasWrittenItself() throws {
    for value in ["dark", "black"] {
      try set(phone, .string(value))
      try meet(phone)
      pass(minutes: 3)
    }
    try meet(tablet)
    #expect(line.hub.held.count == 1 && line.hub.rows.count == 1)
    pass(minutes: 20)
    try meet(laptop)
    #expect(try value(laptop) == "black" && line.hub.held.isEmpty)
    try settle(on: "black", lost: [])
  }

  @Test func whatItsDeviceWritesMeanwhileIsSeen() throws {
    try set(phone, "dark")
    try meet(phone)
    try set(laptop, "light")
    try meet(laptop)
    pass(minutes: 20)
    ahead.milliseconds = clock.milliseconds
    try set(phone, 10, key: "size")
    try meet(phone, laptop)
    try set(laptop, 11, key: "size")
    try meet(laptop)
    #expect(try meet(phone).conflicts.isEmpty)
    #expect(try value(phone, key: "size") == 11)
    try settle(on: "dark", lost: ["light"])
  }

  @Test func ofTwoThatAreDueAtOnceTheLastComesIn() throws {
    for (device, value) in [(phone, "dark"), (watch, "black")] {
      try set(device, .string(value))
      try meet(device)
    }
    pass(minutes: 20)
    try meet(laptop)
    #expect(try value(laptop) == "black")
    #expect(try meet(laptop).hasConverged)
    try settle(on: "black", lost: ["dark"])
  }

  @Test(arguments: [false, true])
  func ofTwoThatAreDueOneAfterTheOtherTheDeviceOfTheLastDecides(hasRead: Bool) throws {
    try set(phone, "dark")
    if hasRead { try watch.merge(with: phone) }
    try meet(phone)
    pass(minutes: 4)
    try set(watch, "black")
    try meet(watch)
    #expect(line.hub.held.count == 2)
    pass(minutes: 2)
    try meet(laptop)
    #expect(try value(laptop) == "dark")
    pass(minutes: 20)
    try meet(laptop)
    #expect(try value(laptop) == "dark" && line.hub.held.count == 1)
    #expect(try meet(watch).conflicts.count == (hasRead ? 0 : 1))
    try settle(on: "black", lost: hasRead ? [] : ["dark"])
  }

  /// It gives all it has when it comes, and then has read all that the hub has.
  @Test(arguments: [false, true])
  func whoIsAwayForGoodIsNotWaitedFor(isRetired: Bool) throws {
    try set(phone, "dark")
    try meet(phone)
    try set(laptop, "light")
    try meet(laptop)
    if isRetired { try line.hub.retire(phone.replica()) }
    pass(minutes: isRetired ? 20 : 179 * 24 * 60)
    try meet(laptop)
    #expect(line.hub.held.isEmpty == isRetired)
    if !isRetired { pass(minutes: 2 * 24 * 60) }
    #expect(try meet(laptop).hasConverged)
    #expect(line.hub.held.isEmpty && line.hub.account.rows == 1)
    #expect(try value(laptop) == "light")
    #expect(try meet(phone).conflicts.map(\.conflict.lost) == ["light"])
    try settle(on: "dark", lost: ["light"])
  }

  @Test func whoComesAfterALongTimeIsThere() throws {
    try set(phone, "dark")
    try meet(phone)
    try set(laptop, "light")
    try meet(laptop)
    pass(minutes: 181 * 24 * 60)
    #expect(try meet(phone).conflicts.map(\.conflict.lost) == ["light"])
    try settle(on: "dark", lost: ["light"])
  }

  @Test func aDeletionFromTheFutureWaitsAsWell() throws {
    try set(laptop, "light")
    try meet(laptop, phone)
    try set(phone, nil)
    try meet(phone)
    try set(laptop, "sepia")
    try meet(laptop)
    pass(minutes: 20)
    try meet(tablet)
    #expect(try value(tablet) == "sepia")
    #expect(try meet(phone).conflicts.map(\.conflict.lost) == ["sepia"])
    try meet(tablet)
    #expect(try value(tablet) == nil)
  }
}
