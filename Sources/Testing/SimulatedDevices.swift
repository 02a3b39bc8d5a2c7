// SPDX-License-Identifier: Apache-2.0
//
// Devices of a test, on real files. Invariants:
// - Nothing depends on chance but by the seed: identities, meeting tokens and times are given, so
//   the same calls leave the same entries, with the same stamps.
// - Each device is open here, on the file of its number. A crash or a restore puts another file in
//   its place; handles from before keep the old one, which can be read and refuses every write.

import Foundation
public import KeepsakeDevice
public import KeepsakeSync
import KeepsakeValues

/// Devices that a test lets meet, copies, sets back and crashes, by their number.
///
///     let devices = try SimulatedDevices(count: 3, seed: 42)
///     let settings = try devices.map { try SharedSettings(on: $0) }
///     settings[0].theme = .dark
///     try devices.meet(0, 1)
///     try devices.settle()
///
/// Their files are in a temporary folder, gone with the last of them. Time moves by itself, one
/// millisecond at each look, so the later write is the later one; `advance(by:)` moves all clocks,
/// and each device has its own in `clocks`, for a test to set wrong.
///
/// For one test, and one thread of it.
public final class SimulatedDevices {
  /// A device's file with its log, byte by byte, as it was at one moment.
  public struct Snapshot: Sendable {
    let image: FileImage
  }

  /// What everything random here follows from.
  public let seed: UInt64
  /// For what the test itself leaves to chance.
  public var random: SeededGenerator
  /// What was done, a line for each step; part of the message when `settle` fails.
  public internal(set) var history: [String] = []
  let time = SimulatedTime()
  private var identities: SeededGenerator
  private var devices: [Device] = []
  private let folder: TemporaryFolder

  /// - Parameters:
  ///   - count: how many, at least one.
  ///   - seed: the same seed and the same calls give the same entries, to the last stamp.
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

  private func open(_ place: Int, _ access: Access) throws(KeepsakeError) -> Device {
    try Device(
      path: path(place), access: access, busyTimeout: Device.defaultBusyTimeout,
      clock: time.wallClock(of: clocks[place]), folder: folder,
      identity: .random(using: &identities))
  }

  /// The devices' clocks; those of a test that has skewed none show the same.
  public var clocks: [ManualClock] { time.all }

  /// Moves all clocks on, or back.
  public func advance(by duration: Duration) { time.advance(by: duration) }

  /// Merges some of the devices, each with each; two meet as two devices do.
  ///
  /// - Throws: as `Device.merge(with:options:)`.
  @discardableResult
  public func meet(
    _ places: Int..., options: MergeOptions = MergeOptions()
  ) throws(KeepsakeError) -> MergeReport {
    try meet(places, options: options)
  }

  /// Merges all devices.
  @discardableResult
  public func meetAll(
    options: MergeOptions = MergeOptions()
  ) throws(KeepsakeError) -> MergeReport {
    try meet(Array(indices), options: options)
  }

  private func meet(
    _ places: [Int], options: MergeOptions
  ) throws(KeepsakeError) -> MergeReport {
    history.append("meet " + places.map(String.init).joined(separator: " "))
    // Of its own: an observer of the merge may call this object.
    var tokens = SeededGenerator(seed: identities.next())
    return try Merge.run(places.map { devices[$0] }, options: options, using: &tokens)
  }

  /// A copy of a device's file, for `restore`. What is not committed is not in it.
  public func snapshot(_ place: Int) throws(KeepsakeError) -> Snapshot {
    Snapshot(image: try FileImage(of: devices[place]))
  }

  /// Makes another device of a copy of a device's file, as `cp -a` or a cloned virtual machine does
  /// without telling anybody. Its clock shows the same time.
  ///
  /// - Returns: its number.
  public func copy(_ place: Int) throws -> Int {
    let copy = count
    history.append("copy \(place) to \(copy)")
    try snapshot(place).image.write(to: path(copy))
    time.addClock(like: clocks[place])
    devices.append(try open(copy, .existing))
    return copy
  }

  /// Puts an old file in the place of a device's, which forgets what it has done since; the file
  /// may also be another device's. The clock stays as it is.
  ///
  /// Handles and stores from before are of no use any more: make them anew.
  public func restore(_ place: Int, to snapshot: Snapshot) throws {
    history.append("restore \(place)")
    try replace(place, by: snapshot.image)
  }

  /// Ends a device as `kill -9` ends its process, and starts it again: what is committed is there,
  /// what is not is gone, and nobody has closed the file or emptied its log.
  ///
  /// Within a transaction of the device it is gone too, whatever becomes of the transaction.
  /// Handles and stores from before the crash are of no use any more: they read what they read, and
  /// refuse to write. Make them anew.
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
  /// A device by its number. After `crash` and `restore` it is another object.
  public subscript(place: Int) -> Device { devices[place] }
}
