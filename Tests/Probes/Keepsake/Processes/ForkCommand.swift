// SPDX-License-Identifier: Apache-2.0
//
// A child that fork has made must not use files that its parent had open. These cases do.

import ArgumentParser
import Foundation
import Keepsake
import Synchronization
import Turns

struct ForkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fork", abstract: "Uses a device in a child that fork has made.",
    discussion: "Prints the errors that the child gets, then what the parent finds.",
    shouldDisplay: false)

  enum Case: String, CaseIterable, ExpressibleByArgument {
    case use, observe, read, open, release, log, transaction, merge, end
  }

  @Argument var what: Case
  @Argument(help: "An empty folder.") var folder: String

  func run() throws {
    switch what {
    case .use: try use()
    case .observe: try observe()
    case .read: try read()
    case .open: try open()
    case .release: try release()
    case .log: try log()
    case .transaction: try transaction()
    case .merge: try merge()
    case .end: try end()
    }
  }

  func path(_ name: String) -> String { KillRound.path(name, in: folder) }

  func device(_ name: String, _ backups: BackupPolicy = .never) throws -> Device {
    try Device(path: path(name), backups: backups)
  }
}

/// Runs `body` in a child, and waits for its end.
func inChild(_ body: () throws -> Void) throws {
  let id = turns_fork()
  guard id == 0 else { return wait(for: id) }
  try body()
  // With the handlers that a program runs when it ends by itself.
  exit(0)
}

/// Runs `body` in one child after the other, and says which of them failed. A child that waits for
/// a lock for ever ends by SIGALRM.
func inChildren(_ count: Int, _ body: (Int) throws -> Void) rethrows {
  for number in 0..<count {
    let id = turns_fork()
    guard id == 0 else {
      wait(for: id, unless: 0)
      continue
    }
    alarm(20)
    try body(number)
    _exit(0)
  }
}

/// Waits for the end of a child, and prints its status.
///
/// - Parameter usual: a status that is not printed.
func wait(for id: Int32, unless usual: Int32? = nil) {
  var status: Int32 = 0
  waitpid(id, &status, 0)
  guard status != usual else { return }
  say("child: \(status == 0 ? "ended" : "status \(status)")")
}

func attempt(_ name: String, _ body: () throws -> Void) {
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
func start(_ program: String, _ arguments: String...) throws {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: Program.beside(program))
  process.arguments = arguments
  process.standardOutput = FileHandle.nullDevice
  try process.run()
  process.waitUntilExit()
  let isKilled = process.terminationReason == .uncaughtSignal
  say("\(program): \(isKilled ? "killed" : "\(process.terminationStatus)")")
}

/// Forks at the first call of `make`, and at no later one.
final class OneFork: Sendable {
  private let id = Mutex<Int32?>(nil)

  var isChild: Bool { id.withLock { $0 } == 0 }

  func make() -> Int32? {
    id.withLock { id in
      guard id == nil else { return nil }
      id = turns_fork()
      return id
    }
  }
}
