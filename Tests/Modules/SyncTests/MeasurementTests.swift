// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import Synchronization
import TestSupport
import Testing

/// What a file's check has found of its sizes, and when a pull goes by it.
@Suite struct MeasurementTests {
  private let clock = ManualClock()

  private func device(_ entries: [String: Int]) throws -> Device {
    let device = try Device.temporary(clock: clock.wallClock)
    for (store, count) in entries.sorted(by: { $0.key < $1.key }) {
      try write(device, 0..<count, store)
    }
    return device
  }

  private func write(_ device: Device, _ keys: Range<Int>, _ store: String = "cloud") throws {
    clock.milliseconds += 1
    try device.write(keys.map { LocalWrite(store: store, key: "k\($0)", value: .integer(0)) })
  }

  private func measurement(_ device: Device) throws -> Measurement {
    try device.core.access {
      try Measurement($0, of: ["cloud", "cloud:b"].map { ByteText($0) }, size: 3)
    }
  }

  @Test func chunksAreOfTheStoresThatAreMerged() throws {
    let device = try device(["a": 5, "cloud": 4, "cloud:a": 9, "cloud:b": 5])
    #expect(try measurement(device).chunks.count == 3)
    #expect(try measurement(self.device(["a": 5])).chunks.isEmpty)
  }

  @Test func whatIsWrittenLaterIsNotCoveredUnlessItIsNotRead() throws {
    let measurement = try measurement(device(["cloud": 4]))
    #expect(measurement.covers(4, except: EchoRange()))
    #expect(!measurement.covers(5, except: EchoRange()))
    #expect(measurement.covers(6, except: EchoRange(lower: 4, upper: 6)))
    #expect(!measurement.covers(6, except: EchoRange(lower: 5, upper: 6)))
    #expect(!measurement.covers(7, except: EchoRange(lower: 4, upper: 6)))
  }

  /// How far each direction had come after each transaction, by the device that was read.
  private final class Steps: Sendable {
    private let received = Mutex<[Int: [Int]]>([:])

    func add(_ progress: MergeProgress) {
      received.withLock { $0[progress.from, default: []].append(progress.received) }
    }

    subscript(place: Int) -> [Int] { received.withLock { $0[place] ?? [] } }
  }

  @Test func whatASenderWritesAfterItsCheckIsMeasured() throws {
    let devices = try [device(["cloud": 2]), device(["cloud": 2]), device([:])]
    let steps = Steps()
    let late = LateWriter(device: devices[1])
    var options = MergeOptions(isOneWay: true, chunkSize: 3)
    options.onProgress = { progress in
      steps.add(progress)
      if progress.from == 0 { late.write() }
    }
    let report = try Merge.run(devices, options: options)
    #expect(report.transfers.map(\.received) == [2, 12])
    #expect(steps[1] == [3, 6, 9, 12])
  }

  private struct LateWriter: Sendable {
    let device: Device

    func write() {
      let result = Result {
        try device.write((2..<12).map { LocalWrite(store: "cloud", key: "k\($0)", value: 1) })
      }
      #expect(throws: Never.self) { try result.get() }
    }
  }

  @Test func ofTwoDevicesEachReadsTheOtherByItsMeasurement() throws {
    let devices = try [device(["cloud": 7]), device(["cloud:b": 8])]
    let steps = Steps()
    var options = MergeOptions(chunkSize: 3)
    options.onProgress = { steps.add($0) }
    let report = try Merge.run(devices, options: options)
    #expect(report.hasConverged)
    #expect(Array(steps[0].prefix(3)) == [3, 6, 7])
    #expect(Array(steps[1].prefix(3)) == [3, 6, 8])
  }
}
