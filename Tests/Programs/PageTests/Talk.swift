// SPDX-License-Identifier: Apache-2.0

#if Page
  import Foundation
  import TestSupport

  /// A program that is talked with line by line.
  final class Talk {
    struct Ended: Error {}

    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())
    private var rest = Data()

    init(_ program: String, _ arguments: [String], in folder: String) throws {
      process.executableURL = URL(fileURLWithPath: program)
      process.arguments = arguments
      process.currentDirectoryURL = URL(fileURLWithPath: folder)
      process.standardInput = input
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      try process.run()
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    func say(_ line: String) throws {
      try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
    }

    func line() throws -> String {
      while true {
        if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          defer { rest = Data(rest[(end + 1)...]) }
          return String(decoding: rest[..<end], as: UTF8.self)
        }
        let more = output.fileHandleForReading.availableData
        guard !more.isEmpty else { throw Ended() }
        rest += more
      }
    }

    /// - Returns: how it ends when it is told to.
    func end(_ signal: Int32 = SIGTERM) -> Int32 {
      kill(process.processIdentifier, signal)
      process.waitUntilExit()
      return process.terminationStatus
    }

    /// Ends one that reads to the end of its input.
    func finish() throws {
      try input.fileHandleForWriting.close()
      process.waitUntilExit()
    }
  }
#endif
