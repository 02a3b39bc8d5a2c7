// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Another process that holds a file open, and what it took there, until the end of the test.
public final class Locker {
  private static let script = """
    import sqlite3, sys
    connection = sqlite3.connect(sys.argv[1], isolation_level=None)
    for statement in sys.argv[2:]: connection.execute(statement).fetchall()
    print("held", flush=True)
    sys.stdin.read()
    """
  private let process = Process()
  private let input = Pipe()

  public init(_ file: URL, _ statements: [String]) throws {
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: try Command.find("python3"))
    process.arguments = ["-c", Self.script, file.path] + statements
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let said = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard said.hasPrefix("held") else {
      throw Command.Missing(description: "the lock could not be taken")
    }
  }

  public func release() throws {
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}
