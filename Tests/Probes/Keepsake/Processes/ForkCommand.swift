// SPDX-License-Identifier: Apache-2.0
//
// A child that fork has made must not use files that its parent had open. These cases do.

import ArgumentParser
import Foundation
import Keepsake
import Turns

struct ForkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fork", abstract: "Uses a device in a child that fork has made.",
    discussion: "Prints the errors that the child gets, then what the parent finds.",
    shouldDisplay: false)

  enum Case: String, CaseIterable, ExpressibleByArgument {
    case use, release, log
  }

  @Argument var what: Case
  @Argument(help: "An empty folder.") var folder: String

  private var path: String { KillRound.path("a", in: folder) }

  func run() throws {
    switch what {
    case .use: try use()
    case .release: try release()
    case .log: try log()
    }
  }

  /// The child reads and writes.
  private func use() throws {
    let device = try Device(path: path)
    let settings = try SharedSettings(on: device)
    settings.count = 1
    try inChild {
      attempt("read") { _ = try settings.read("name") }
      attempt("write") { try settings.$count.write(2) }
      attempt("transaction") { try settings.transaction {} }
    }
    settings.name = "after"
    try device.checkIntegrity()
    say("parent: \(settings.count), \(settings.name), \(settings.errors)")
  }

  /// The child releases a device whose folder goes with its last reference.
  private func release() throws {
    var device: Device? = try Device.temporary()
    let path = device?.path ?? ""
    try inChild { device = nil }
    say("file: \(FileManager.default.fileExists(atPath: path) ? "there" : "gone")")
    withExtendedLifetime(device) {}
  }

  /// The child releases its parent's device when the parent has closed it, and another process has
  /// left commits in a new log: to close the connection would remove that log.
  private func log() throws {
    var device: Device? = try Device(path: path)
    if let device { try SharedSettings(on: device).write("v", for: "k") }
    let (go, log) = (Pipe(), path + "-wal")
    let id = turns_fork()
    if id == 0 {
      try go.fileHandleForWriting.close()
      _ = go.fileHandleForReading.availableData
      device = nil
      Foundation.exit(0)
    }
    device = nil
    say("log: \(FileManager.default.fileExists(atPath: log) ? "there" : "gone")")
    try start(Program.name, "add", path, "5", "--killed")
    say("log: \(FileManager.default.fileExists(atPath: log) ? "there" : "gone")")
    try go.fileHandleForWriting.close()
    wait(for: id)
    say("log: \(FileManager.default.fileExists(atPath: log) ? "there" : "gone")")
    say("sum: \(try SharedCounters(on: Device(path: path)).sum)")
  }
}

/// Runs `body` in a child, and waits for its end.
private func inChild(_ body: () throws -> Void) throws {
  let id = turns_fork()
  guard id == 0 else { return wait(for: id) }
  try body()
  exit(0)
}

/// Waits for the end of a child, and prints its status.
private func wait(for id: Int32) {
  var status: Int32 = 0
  waitpid(id, &status, 0)
  say("child: \(status == 0 ? "ended" : "status \(status)")")
}

private func attempt(_ name: String, _ body: () throws -> Void) {
  do {
    try body()
    say("\(name): no error")
  } catch let error as KeepsakeError {
    say("\(name): \(error.code)")
  } catch {
    say("\(name): \(error)")
  }
}

/// Runs another program to its end.
private func start(_ program: String, _ arguments: String...) throws {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: Program.beside(program))
  process.arguments = arguments
  process.standardOutput = FileHandle.nullDevice
  try process.run()
  process.waitUntilExit()
  let isKilled = process.terminationReason == .uncaughtSignal
  say("\(program): \(isKilled ? "killed" : "\(process.terminationStatus)")")
}
