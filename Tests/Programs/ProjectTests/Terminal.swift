// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Plays the terminal sessions of an article, with this package's programs in PATH.
final class Terminal {
  private let folder: Folder
  private let path: String
  /// A program in a second terminal, and what it has still to print.
  private var watching: (program: RunningCommand, expected: [Substring])?

  /// - Parameter bundle: a Settings bundle of the project, which the sessions find in their folder.
  init(bundle: String) throws {
    let bin = URL(fileURLWithPath: try Command.kvsync.get()).deletingLastPathComponent().path
    path = "PATH='\(bin)':$PATH; "
    folder = try Folder()
    try FileManager.default.copyItem(
      at: Project.root.appendingPathComponent(bundle), to: folder.url("Settings.bundle"))
  }

  func close() { _ = watching?.program.end(SIGTERM) }

  /// Runs each line after `$ ` and compares what it prints with the lines up to the next.
  ///
  /// What a program that watches prints after its first line is compared after the next command.
  func play(_ session: String) throws {
    let steps = ("\n" + session).components(separatedBy: "\n$ ").dropFirst()
    #expect(!steps.isEmpty)
    for step in steps {
      let lines = step.split(separator: "\n", omittingEmptySubsequences: true)
      let command = String(try #require(lines.first))
      if command.hasSuffix(" watch") {
        try watch(command, lines.dropFirst())
        continue
      }
      let ending = try Command.run(Command.find("sh"), ["-c", path + command], in: folder.path)
      #expect(ending.code == 0, "\(command): \(ending.stderr)")
      #expect(ending.stdout == lines.dropFirst().map { $0 + "\n" }.joined(), "\(command)")
      endWatching()
    }
  }

  private func watch(_ command: String, _ lines: ArraySlice<Substring>) throws {
    // To a pipe it would print when its buffer is full.
    let program = try RunningCommand(
      folder, ["-c", path + "exec stdbuf -oL " + command], program: Command.find("sh"),
      patience: 60)
    let first = try #require(lines.first)
    #expect(program.line() == first)
    watching = (program, Array(lines.dropFirst()))
  }

  private func endWatching() {
    guard let (program, expected) = watching else { return }
    for expected in expected { #expect(program.line() == expected) }
    // A shell that starts tests in the background makes them ignore SIGINT.
    _ = program.end(SIGTERM)
    watching = nil
  }
}
