// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import KeepsakeSync
import TestSupport
import Testing

@Suite struct ManyProcessesTests {
  private static let processes = 8
  private static let additions = 25

  /// A process, and what it prints.
  private struct Running {
    let process = Process()
    private let output = Pipe()

    init(_ words: [String], program: String? = nil) throws {
      process.executableURL = URL(fileURLWithPath: try program ?? Command.probe.get())
      process.arguments = words
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = output
      process.standardError = output
      try process.run()
    }

    /// What it prints first; it prints whole lines.
    func line() -> String {
      String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    }

    func rest() -> String {
      let text = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return String(decoding: text, as: UTF8.self) + "\(process.terminationStatus)"
    }
  }

  @Test func eightWritersLoseNothingAndEightReadersNeverSeeAValueGoBack() throws {
    let device = try Device.temporary()
    let total = Self.processes * Self.additions
    let readers = try (0..<Self.processes).map { number in
      let access = number.isMultiple(of: 2) ? ["--read-only"] : []
      return try Running(["follow", device.path, "\(total)"] + access)
    }
    for reader in readers { #expect(reader.line() == "ready\n") }
    let writers = try (0..<Self.processes).map { _ in
      try Running(["add", device.path, "\(Self.additions)"])
    }
    for writer in writers { #expect(writer.rest() == "0") }
    for reader in readers { #expect(reader.rest() == "complete\n0") }
    let settings = try UserDefaultsStore(on: device)
    for key in ["sum", "left", "right"] { #expect(settings.integer(forKey: key) == total) }
    try device.checkIntegrity()
  }

  @Test(arguments: [2, 4, 8])
  func processesThatMergeOnePairAtOnceLoseNothingAndLogAConflictOnce(_ count: Int) throws {
    let devices = [try Device.temporary(), try Device.temporary()]
    let stores = try devices.map { try CloudKeyValueStore(on: $0) }
    for (side, store) in stores.enumerated() { store["both"] = .integer(Int64(side)) }
    let rounds = 3
    for round in 0..<rounds {
      let mergers = try (0..<count).map { number in
        let paths = number.isMultiple(of: 2) ? devices : devices.reversed()
        return try Running(
          ["merge", "--quiet"] + paths.map(\.path), program: Command.kvsync.get())
      }
      for number in 0..<50 {
        for (side, store) in stores.enumerated() {
          store["\(side) \(round) \(number)"] = .integer(Int64(number))
        }
      }
      for merger in mergers { #expect(merger.rest() == "0") }
    }
    #expect(try devices[0].merge(with: devices[1]).hasConverged)
    for (device, store) in zip(devices, stores) {
      #expect(store.dictionaryRepresentation().count == 1 + 2 * rounds * 50)
      #expect(try device.examine().isEmpty)
    }
    #expect(try devices.map { try $0.conflicts().count }.reduce(0, +) == 1)
  }
}
