// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Runs a program to its end.
public enum Tool {
  public struct Result: Sendable {
    public let stdout: String
    public let stderr: String
    public let code: Int32
  }

  /// - Parameter program: a name in PATH, or a path.
  public static func run(
    _ program: String, _ arguments: [String], in folder: String? = nil
  ) throws -> Result {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
    let (out, err) = (Pipe(), Pipe())
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = out
    process.standardError = err
    try process.run()
    // Both pipes at once: a program that fills one while we wait on the other would never end.
    let text = Mutex("")
    let reader = Thread { text.withLock { $0 = read(err) } }
    reader.start()
    let stdout = read(out)
    process.waitUntilExit()
    while !reader.isFinished { Thread.yield() }
    return Result(stdout: stdout, stderr: text.withLock { $0 }, code: process.terminationStatus)
  }

  private static func read(_ pipe: Pipe) -> String {
    String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  }
}

extension Thread {
  fileprivate static func yield() { sched_yield() }
}
