// SPDX-License-Identifier: Apache-2.0
//
// Other processes: whole commands, and this program again in a role.

import Foundation

enum Command {
  private static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
  /// As `Scripts/install` makes it.
  static var kvsync: String {
    get throws {
      guard let path = ProcessInfo.processInfo.environment["KVSYNC"] else {
        throw Failure("KVSYNC names no kvsync; use Scripts/benchmark")
      }
      return path
    }
  }

  /// The path of a program that is built beside this one.
  static func beside(_ name: String) -> String {
    URL(fileURLWithPath: program).deletingLastPathComponent().path + "/" + name
  }

  /// Instead of a file: the output is read, and thrown away.
  static let firstLine = "-"

  /// What a process costs from its start to its end, or to its first line.
  struct Cost {
    let nanoseconds, peakBytes: Double
  }

  /// Runs a command to its end.
  ///
  /// - Parameter folder: where it runs.
  /// - Returns: what it printed.
  @discardableResult
  static func run(_ words: [String], in folder: String? = nil) throws -> String {
    let process = Process()
    let output = Pipe()
    if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
    process.executableURL = URL(fileURLWithPath: words[0])
    process.arguments = Array(words.dropFirst())
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failure("\(words.joined(separator: " ")): exit code \(process.terminationStatus)")
    }
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  @discardableResult
  static func role(_ name: String, _ words: [String] = []) throws -> String {
    try run([program, "--role", name] + words)
  }

  /// Runs a command, timed by a small process.
  ///
  /// - Parameter output: the file of its standard output; with `firstLine` the time ends there.
  static func measure(_ words: [String], output: String = "/dev/null") throws -> Cost {
    let line = try run([beside("measure"), output] + words)
    let figures = line.split(separator: " ").compactMap { Double($0) }
    guard figures.count == 2 else { throw Failure("\(words[0]): no measurement") }
    return Cost(nanoseconds: figures[0], peakBytes: figures[1])
  }

  /// This program in a role, until it is ended.
  static func start(_ name: String, _ words: [String]) throws -> Running {
    let running = Running()
    running.process.executableURL = URL(fileURLWithPath: program)
    running.process.arguments = ["--role", name] + words
    running.process.standardInput = running.input
    running.process.standardOutput = running.output
    try running.process.run()
    return running
  }

  /// A program that is usually there.
  static func find(_ name: String) throws -> String {
    for folder in ["/usr/bin/", "/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"]
    where FileManager.default.isExecutableFile(atPath: folder + name) {
      return folder + name
    }
    throw Failure("not installed")
  }
}

final class Running: Sendable {
  let process = Process()
  let input = Pipe()
  let output = Pipe()

  func say(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
  }

  /// Waits until it says something.
  func wait() { _ = output.fileHandleForReading.availableData }

  func end() {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  deinit { if process.isRunning { end() } }
}
