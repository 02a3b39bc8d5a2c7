// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// `kvsync watch` at work.
final class Watching {
  private let process = Process()
  private let output = Pipe()
  private let errors = Pipe()
  private var unread: [UInt8] = []

  init(_ folder: Folder, _ arguments: String...) throws {
    process.executableURL = URL(fileURLWithPath: try Command.kvsync.get())
    process.arguments = ["watch"] + arguments
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let id = process.processIdentifier
    // Whatever goes wrong, nobody waits for ever.
    DispatchQueue.global().asyncAfter(deadline: .now() + 60) { kill(id, SIGKILL) }
    let said = String(decoding: errors.fileHandleForReading.availableData, as: UTF8.self)
    #expect(said == "kvsync: a: watching; interrupt to stop\n")
  }

  /// The next line, waited for.
  func line() -> String {
    while true {
      if let end = unread.firstIndex(of: 0x0A) {
        defer { unread.removeSubrange(...end) }
        return String(decoding: unread[..<end], as: UTF8.self)
      }
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else { return "(the end)" }
      unread += more
    }
  }

  /// The path of what it has open that ends so, as the system names it; nil where there is none.
  func openFile(endingWith suffix: String) throws -> String? {
    let folder = "/proc/\(process.processIdentifier)/fd"
    return try FileManager.default.contentsOfDirectory(atPath: folder)
      .map { try FileManager.default.destinationOfSymbolicLink(atPath: folder + "/" + $0) }
      .first { $0.hasSuffix(suffix) }
  }

  /// Interrupts it; what it has still to say, and how it ends.
  func end(_ signal: Int32 = SIGINT) -> Ending {
    kill(process.processIdentifier, signal)
    let rest = unread + output.fileHandleForReading.readDataToEndOfFile()
    let complaints = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let killed: Int32 = process.terminationReason == .uncaughtSignal ? 128 : 0
    return Ending(
      stdout: String(decoding: rest, as: UTF8.self),
      stderr: String(decoding: complaints, as: UTF8.self),
      code: killed + process.terminationStatus)
  }
}
