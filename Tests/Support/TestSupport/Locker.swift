// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Another process that holds a file open, and what it took there, until the end of the test.
public final class Locker {
  private static let script = """
    import sqlite3, sys
    connection = sqlite3.connect(sys.argv[1], isolation_level=None)
    for statement in sys.argv[2:]: connection.execute(statement).fetchall()
    """
  private let holder: Holder

  public init(_ file: URL, _ statements: [String]) throws {
    holder = try Holder(Self.script, [file.path] + statements)
  }

  public func release() throws {
    try holder.input.fileHandleForWriting.close()
    holder.process.waitUntilExit()
  }
}

/// Another process that holds the lease of a device's file.
public final class Leaser {
  private static let script = """
    import fcntl, sys
    lease = open(sys.argv[1], "a")
    fcntl.flock(lease, fcntl.LOCK_EX)
    """
  private let holder: Holder

  public init(_ path: String) throws { holder = try Holder(Self.script, [path + ".lease"]) }

  public func kill() {
    Foundation.kill(holder.process.processIdentifier, SIGKILL)
    holder.process.waitUntilExit()
  }

  deinit { kill() }
}

/// A Python process that runs a script, and lives until its input ends.
private struct Holder {
  let process = Process()
  let input = Pipe()

  init(_ script: String, _ arguments: [String]) throws {
    let output = Pipe()
    let waiting = "\nprint('held', flush=True)\nsys.stdin.read()"
    process.executableURL = URL(fileURLWithPath: try Command.find("python3"))
    process.arguments = ["-c", script + waiting] + arguments
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let said = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard said.hasPrefix("held") else {
      throw Command.Missing(description: "the lock could not be taken")
    }
  }
}
