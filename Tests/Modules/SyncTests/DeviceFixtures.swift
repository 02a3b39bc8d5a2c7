// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

extension MergeHooks {
  /// The process ends at a boundary.
  static func end(at boundary: Boundary) -> MergeHooks {
    let end = KeepsakeError(.inputOutput, path: "", "the process ends", cure: "")
    return MergeHooks { $0 == boundary ? end : nil }
  }

  /// Runs `body` at the first boundary of this name.
  static func once(at boundary: Boundary, _ body: @escaping () throws -> Void) -> MergeHooks {
    var isDone = false
    return MergeHooks {
      guard $0 == boundary, !isDone else { return nil }
      isDone = true
      #expect(throws: Never.self) { try body() }
      return nil
    }
  }
}

/// A suite whose devices share a clock, which only the suite moves.
protocol ManualClockSuite {
  var clock: ManualClock { get }
}

extension ManualClockSuite {
  /// Writes a millisecond after the last write.
  func set(
    _ device: Device, _ key: String, _ value: StoredValue?, _ store: String = "cloud"
  ) throws {
    clock.milliseconds += 1
    try device.write([LocalWrite(store: store, key: key, value: value)])
  }

  /// Writes many keys in one transaction, a millisecond after the last write.
  func set(_ device: Device, count: Int, _ value: StoredValue) throws {
    clock.milliseconds += 1
    try device.write(
      (0..<count).map { LocalWrite(store: "cloud", key: "k\($0)", value: value) })
  }
}

/// A suite of two devices in memory, with the replica IDs 1 and 2.
protocol TwoDeviceSuite: ManualClockSuite {
  init(clock: ManualClock, a: Device, b: Device)
}

extension TwoDeviceSuite {
  init() throws {
    let clock = ManualClock()
    let devices = try [1, 2].map {
      try Device.inMemory(identity: ReplicaID(rawValue: $0), clock: clock.wallClock)
    }
    self.init(clock: clock, a: devices[0], b: devices[1])
  }
}

/// A suite of device files in a folder, which are named without the folder and the extension.
protocol DeviceFileSuite: ManualClockSuite {
  var folder: TemporaryFolder { get }
  init(folder: TemporaryFolder, clock: ManualClock)
}

extension DeviceFileSuite {
  init() throws { self.init(folder: try TemporaryFolder(), clock: ManualClock()) }

  func path(_ name: String) -> String { folder.path + "/\(name).keepsake" }

  func url(_ name: String) -> URL { URL(fileURLWithPath: path(name)) }

  func open(_ name: String) throws -> Device {
    try Device(path: path(name), clock: clock.wallClock)
  }

  func copy(_ name: String, to copy: String) throws {
    #expect(try Command.run(Command.find("cp"), [path(name), path(copy)]).code == 0)
  }

  func set(_ name: String, _ key: String, _ value: StoredValue?) throws {
    try set(open(name), key, value)
  }

  func values(_ name: String) throws -> [String: StoredValue] {
    var values: [String: StoredValue] = [:]
    try open(name).forEachEntry { values[$0.address.key.string] = $0.content.value }
    return values
  }

  @discardableResult
  func merge(_ names: String...) throws -> MergeReport {
    try Merge.run(names.map(open), options: MergeOptions())
  }
}
