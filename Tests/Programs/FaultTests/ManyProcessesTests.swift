// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import KeepsakeCommandLine
import KeepsakeSync
import TestSupport
import Testing

@Suite struct ManyProcessesTests {
  private static let processes = 8
  private static let additions = 25

  @Test func eightWritersLoseNothingAndEightReadersNeverSeeAValueGoBack() throws {
    let device = try Device.temporary()
    let (folder, probe) = (try Folder(), try Command.probe.get())
    let total = Self.processes * Self.additions
    let readers = try (0..<Self.processes).map { number in
      let access = number.isMultiple(of: 2) ? ["--read-only"] : []
      return try RunningCommand(
        folder, ["follow", device.path, "\(total)"] + access, program: probe)
    }
    for reader in readers { #expect(reader.line() == "ready") }
    let writers = try (0..<Self.processes).map { _ in
      try RunningCommand(folder, ["add", device.path, "\(Self.additions)"], program: probe)
    }
    // Signal 0 is none.
    for writer in writers { #expect(writer.end(0) == Ending()) }
    for reader in readers { #expect(reader.end(0) == Ending(stdout: "complete\n")) }
    let settings = try UserDefaultsStore(on: device)
    for key in ["sum", "left", "right"] { #expect(settings.integer(forKey: key) == total) }
    try device.checkIntegrity()
  }

  @Test(arguments: [2, 4, 8])
  func processesThatMergeOnePairAtOnceLoseNothingAndLogAConflictOnce(_ count: Int) throws {
    let devices = [try Device.temporary(), try Device.temporary()]
    let stores = try devices.map { try CloudKeyValueStore(on: $0) }
    let (folder, identities) = (try Folder(), try devices.map { try $0.replica() })
    for (side, store) in stores.enumerated() { store["both"] = .integer(Int64(side)) }
    let rounds = 3
    for round in 0..<rounds {
      let mergers = try (0..<count).map { number in
        let paths = number.isMultiple(of: 2) ? devices : devices.reversed()
        return try RunningCommand(folder, ["merge", "--quiet"] + paths.map(\.path))
      }
      for number in 0..<50 {
        for (side, store) in stores.enumerated() {
          store["\(side) \(round) \(number)"] = .integer(Int64(number))
        }
      }
      for merger in mergers { #expect(merger.end(0) == Ending()) }
    }
    #expect(try devices[0].merge(with: devices[1]).hasConverged)
    #expect(try devices.map { try $0.replica() } == identities, "none was taken for a copy")
    for (device, store) in zip(devices, stores) {
      #expect(store.dictionaryRepresentation().count == 1 + 2 * rounds * 50)
      #expect(try device.examine().isEmpty)
    }
    #expect(try devices.map { try $0.conflicts().count }.reduce(0, +) == 1)
  }
}
