// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeSync
import KeepsakeTesting
import KeepsakeValues
import TestSupport

/// One moment at which the power goes, and what has to hold of the files that it leaves.
struct PowerCut {
  let workload: PowerWorkload
  let recording: Recording
  let folder: String
  private let cut: Int
  private var generator: SeededGenerator

  init(
    _ number: Int, of workload: PowerWorkload, _ recording: Recording, seed: UInt64,
    in folder: String
  ) {
    (self.workload, self.recording, self.folder) = (workload, recording, folder)
    generator = SeededGenerator(seed: seed &+ UInt64(number) &* 0x9E37_79B9)
    cut = Int.random(in: 0...recording.events.count, using: &generator)
  }

  /// - Throws: `Complaint`.
  mutating func check() throws {
    do {
      let disk = Disk(recording, after: cut)
      let image = disk.image(using: &generator)
      let space = try space(image)
      try checkDevices(space)
      try checkClones(space)
      // Both have lost something; or one went on as if nothing had happened.
      try sync(try self.space(image), "both cut off")
      let survivor = PowerWorkload.names[Int.random(in: 0...1, using: &generator)]
      var mixed = image.filter { !Self.isOf($0.key, survivor, workload.space) }
      mixed.merge(disk.live.filter { Self.isOf($0.key, survivor, workload.space) }) { $1 }
      try sync(try self.space(mixed), "\(survivor) alive")
    } catch {
      throw Complaint("at event \(cut) of \(recording.events.count): \(error)")
    }
  }

  /// Whether it is a device's file, or its log.
  private static func isOf(_ path: String, _ name: String, _ space: Workspace) -> Bool {
    ["", "-wal", "-journal"].contains { path == space.path(name) + $0 }
  }

  /// Makes these files, which nothing has open.
  private func space(_ image: [String: [UInt8]]) throws -> Workspace {
    if FileManager.default.fileExists(atPath: folder) {
      try FileManager.default.removeItem(atPath: folder)
    }
    let space = try Workspace(folder)
    for (path, bytes) in image {
      let url = space.url(String(path.dropFirst(workload.space.folder.count + 1)))
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(bytes).write(to: url)
    }
    space.clock.milliseconds = workload.space.clock.milliseconds
    return space
  }

  /// Each device holds what it has to, and nothing that it must not.
  private func checkDevices(_ space: Workspace) throws {
    for ledger in workload.ledgers {
      guard space.exists(ledger.name) else {
        try demand(ledger.made > cut, "\(ledger.name) had been made, and is gone")
        continue
      }
      try ledger.check(space.examine(ledger.name), cut: cut)
    }
  }

  private func checkClones(_ space: Workspace) throws {
    for (name, state, end) in workload.clones {
      if space.exists(name) {
        let found = try space.examine(name)
        try demand(found == state, "\(name) is not what it was made of")
      } else {
        try demand(end > cut, "\(name) had been made, and is gone")
      }
    }
  }

  /// The devices sync, lose nothing of what either has, and agree; also on what is written then.
  ///
  /// - Parameter comment: which devices they are.
  private mutating func sync(_ space: Workspace, _ comment: String) throws {
    do {
      try sync(space)
    } catch {
      throw Complaint("\(comment): \(error)")
    }
  }

  private mutating func sync(_ space: Workspace) throws {
    guard PowerWorkload.names.allSatisfy(space.exists) else { return }
    let devices = try PowerWorkload.names.map { try space.open($0) }
    let before = Set(try devices.flatMap(marks))
    for round in 0...1 {
      space.clock.advance(by: .seconds(1))
      let report = try Merge.run(
        devices, options: MergeOptions(), source: IdentitySource(seed: generator.next()))
      let states = try devices.map(DeviceState.init)
      try demand(
        report.hasConverged || !report.waiting.isEmpty, "a merge ends without an agreement")
      try demand(states[0].synced == states[1].synced, "the devices differ after a merge")
      try demand(
        round == 0 || states[0]["after"] == .integer(1), "what was written after the cut is gone")
      for device in devices { try device.set("after", .integer(1)) }
    }
    for device in devices {
      let lost = try before.subtracting(marks(on: device)).sorted()
      try demand(lost.isEmpty, "a merge has lost \(lost)")
    }
  }

  private func marks(on device: Device) throws -> Set<String> {
    let state = try DeviceState(device)
    return Set(workload.ledgers.flatMap { $0.marks(in: state) })
  }
}
