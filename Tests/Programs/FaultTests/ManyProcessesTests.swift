// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import TestSupport
import Testing

@Suite struct ManyProcessesTests {
  private static let processes = 8
  private static let additions = 25

  /// A process, and what it prints.
  private struct Running {
    let process = Process()
    private let output = Pipe()

    init(_ words: [String]) throws {
      process.executableURL = URL(fileURLWithPath: try Command.probe.get())
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
}
