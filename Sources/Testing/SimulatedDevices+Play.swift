// SPDX-License-Identifier: Apache-2.0

import Foundation
public import KeepsakeDevice

extension SimulatedDevices {
  /// Plays a random history, the same for the same seed: devices write, sync, crash, are copied and
  /// restored, and have clocks that are up to two minutes wrong.
  ///
  ///     try devices.play(steps: 100) { device, random in
  ///       try SharedSettings(on: device).volume = .random(in: 0...10, using: &random)
  ///     }
  ///     try devices.settle()
  ///
  /// Copies at most double the number of devices.
  ///
  /// - Parameters:
  ///   - steps: the number of events.
  ///   - write: one device's write; creates its stores each time, and takes random numbers from the
  ///     generator.
  public func play(
    steps: Int, _ write: (Device, inout SeededGenerator) throws -> Void
  ) throws {
    var chance = SeededGenerator(seed: random.next())
    var snapshots: [Snapshot] = []
    let most = 2 * count
    for _ in 0..<steps {
      advance(by: .milliseconds(Int.random(in: 0...5000, using: &chance)))
      let place = Int.random(in: indices, using: &chance)
      let others = indices.filter { $0 != place }
      switch Int.random(in: 0..<100, using: &chance) {
      case 0..<50:
        history.append("write \(place)")
        try write(self[place], &chance)
      case 50..<78:
        guard let other = others.randomElement(using: &chance) else { continue }
        try merge(place, other)
      case 78..<82: try mergeAll()
      case 82..<87: try crash(place)
      case 87..<91: snapshots.append(try snapshot(place))
      case 91..<94:
        guard let snapshot = snapshots.randomElement(using: &chance) else { continue }
        try restore(place, to: snapshot)
      case 94..<96 where count < most: _ = try copy(place)
      default:
        let seconds = Double.random(in: -120...120, using: &chance)
        history.append("skew \(place)")
        clocks[place].set(to: time.now.addingTimeInterval(seconds))
      }
    }
  }
}
