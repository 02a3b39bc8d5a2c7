// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Another process that holds the lease of a device's file.
public final class Leaser {
  private static let script = """
    import fcntl, sys
    lease = open(sys.argv[1], "a")
    fcntl.flock(lease, fcntl.LOCK_EX)
    print("held", flush=True)
    sys.stdin.read()
    """
  private let process = Process()
  private let input = Pipe()

  public init(_ path: String) throws {
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: try Command.find("python3"))
    process.arguments = ["-c", Self.script, path + ".lease"]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let said = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard said.hasPrefix("held") else {
      throw Command.Missing(description: "the lease could not be taken")
    }
  }

  public func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  deinit { kill() }
}
