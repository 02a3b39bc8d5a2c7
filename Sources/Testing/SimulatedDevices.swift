// SPDX-License-Identifier: Apache-2.0
//
// Devices of a test, on real files. Invariants:
// - The seed determines all random choices: replica IDs, mark bits and times, so the same calls
//   leave the same entries with the same timestamps.
// - Each device has one open handle here, on the file with its number. A crash or a restore
//   replaces the file; older handles keep the old file, can read it, and refuse every write.

import Foundation
public import KeepsakeDevice
public import KeepsakeSync
import KeepsakeValues

/// Devices that a test syncs, copies, restores and crashes, by their number.
///
///     let devices = try SimulatedDevices(count: 3, seed: 42)
///     let settings = try devices.map { try SharedSettings(on: $0) }
///     settings[0].theme = .dark
///     try devices.merge(0, 1)
///     try devices.settle()
///
/// Their files are in a temporary folder, deleted with the last device. Each reading of a clock
/// advances the time by a millisecond, so a later write has a later time. `advance(by:)` advances
/// all clocks; a test can set the clock of one device wrong, in `clocks`.
///
/// Not thread-safe.
public final class SimulatedDevices {
  /// A copy of a device's file and its log at one moment.
  public struct Snapshot: Sendable {
    let image: FileImage
  }

  /// The seed of all random choices.
  public let seed: UInt64
  /// A generator for the test's own random choices.
  public var random: SeededGenerator
  /// One line for each step so far; part of the error when `settle` fails.
  public internal(set) var history: [String] = []
  /// The random numbers of one merge.
  private final class Generator {
    var numbers: SeededGenerator

    init(_ numbers: SeededGenerator) { self.numbers = numbers }
  }

  let time = SimulatedTime()
  private var identities: SeededGenerator
  private var devices: [Device] = []
  private let folder: TemporaryFolder

  /// - Parameters:
  ///   - count: the number of devices, at least one.
  ///   - seed: the same seed and the same calls give the same entries and timestamps.
  /// - Throws: `KeepsakeError` when the temporary folder cannot be written.
  public init(count: Int, seed: UInt64 = 1) throws(KeepsakeError) {
    self.seed = seed
    identities = SeededGenerator(seed: seed)
    random = SeededGenerator(seed: identities.next())
    folder = try TemporaryFolder()
    for place in 0..<count {
      time.addClock()
      devices.append(try open(place, .create))
    }
  }

  private func path(_ place: Int) -> String { folder.path + "/\(place).keepsake" }

  private func open(_ place: Int, _ access: Device.Access) throws(KeepsakeError) -> Device {
    try Device(
      path: path(place), access: access, busyTimeout: Device.defaultBusyTimeout,
      clock: time.wallClock(of: clocks[place]), folder: folder,
      identity: .random(using: &identities))
  }

  /// The devices' clocks, equal until a test changes one.
  public var clocks: [ManualClock] { time.all }

  /// Advances all clocks; a negative duration sets them back.
  public func advance(by duration: Duration) { time.advance(by: duration) }

  /// Syncs some of the devices, each with each, as `Device.merge(with:options:)` of the first. Does
  /// not wait for `resolveConflicts`.
  ///
  /// - Throws: as `Device.merge(with:options:)`.
  @discardableResult
  public func merge(
    _ places: Int..., options: MergeOptions = MergeOptions()
  ) throws(KeepsakeError) -> MergeReport {
    try merge(places, options: options)
  }

  /// Syncs all devices.
  @discardableResult
  public func mergeAll(
    options: MergeOptions = MergeOptions()
  ) throws(KeepsakeError) -> MergeReport {
    try merge(Array(indices), options: options)
  }

  private func merge(
    _ places: [Int], options: MergeOptions
  ) throws(KeepsakeError) -> MergeReport {
    history.append("merge " + places.map(String.init).joined(separator: " "))
    // The merge has its own generator, because an observer of the merge may call this object.
    let generator = Generator(SeededGenerator(seed: identities.next()))
    return try Merge.run(
      places.map { devices[$0] }, options: options,
      source: IdentitySource(
        replicaID: { .random(using: &generator.numbers) },
        markBits: { .random(in: 1..<(1 << 62), using: &generator.numbers) }))
  }

  /// A copy of a device's file, for `restore`, without uncommitted writes.
  public func snapshot(_ place: Int) throws(KeepsakeError) -> Snapshot {
    Snapshot(image: try FileImage(of: devices[place]))
  }

  /// Adds a device from a copy of a device's file, as `cp -a` or cloning a virtual machine would,
  /// with the same time on its clock.
  ///
  /// - Returns: the number of the new device.
  public func copy(_ place: Int) throws -> Int {
    let copy = count
    history.append("copy \(place) to \(copy)")
    try snapshot(place).image.write(to: path(copy))
    time.addClock(like: clocks[place])
    devices.append(try open(copy, .existing))
    return copy
  }

  /// Replaces a device's file by a snapshot of this or another device, so that it loses later
  /// writes. The clock does not change.
  ///
  /// Handles and stores from before refuse to write: create new ones.
  public func restore(_ place: Int, to snapshot: Snapshot) throws {
    history.append("restore \(place)")
    try replace(place, by: snapshot.image)
  }

  /// Stops a device as `kill -9` stops its process, and opens it again: committed writes remain,
  /// uncommitted writes are lost, the file is not closed, and its log is not truncated.
  ///
  /// Within a transaction of the device, its writes are lost even if it commits later. Handles and
  /// stores from before the crash read the old file and refuse to write: create new ones.
  public func crash(_ place: Int) throws {
    history.append("crash \(place)")
    try replace(place, by: FileImage(of: devices[place]))
  }

  private func replace(_ place: Int, by image: FileImage) throws {
    try image.write(to: path(place))
    devices[place] = try open(place, .existing)
  }
}

extension SimulatedDevices: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { devices.count }
  /// A device by its number; `crash` and `restore` replace the object.
  public subscript(place: Int) -> Device { devices[place] }
}
