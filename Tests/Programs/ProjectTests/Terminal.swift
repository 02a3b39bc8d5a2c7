// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Plays the terminal sessions of an article, with this package's programs in PATH.
final class Terminal {
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("keepsake-terminal-\(UUID().uuidString)")
  private let path: String
  /// A program in a second terminal, and what it has still to print.
  private var watching: (process: Process, output: FileHandle, expected: [Substring])?

  /// - Parameter bundle: a Settings bundle of the project, which the sessions find in their folder.
  init(bundle: String) throws {
    let bin = URL(fileURLWithPath: try Command.kvsync.get()).deletingLastPathComponent().path
    path = "PATH='\(bin)':$PATH; "
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      at: Project.root.appendingPathComponent(bundle),
      to: folder.appendingPathComponent("Settings.bundle"))
  }

  func close() {
    watching?.process.terminate()
    #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) }
  }

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
      try endWatching()
    }
  }

  private func watch(_ command: String, _ lines: ArraySlice<Substring>) throws {
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: try Command.find("sh"))
    // To a pipe it would print when its buffer is full.
    process.arguments = ["-c", path + "exec stdbuf -oL " + command]
    process.currentDirectoryURL = folder
    process.standardOutput = output
    try process.run()
    let id = process.processIdentifier
    DispatchQueue.global().asyncAfter(deadline: .now() + 60) { kill(id, SIGKILL) }
    let first = try #require(lines.first)
    #expect(line(of: output.fileHandleForReading) == first)
    watching = (process, output.fileHandleForReading, Array(lines.dropFirst()))
  }

  private func endWatching() throws {
    guard let (process, output, expected) = watching else { return }
    for expected in expected { #expect(line(of: output) == expected) }
    // A shell that starts tests in the background makes them ignore SIGINT.
    process.terminate()
    process.waitUntilExit()
    watching = nil
  }

  /// The next line, waited for; what there is at the end.
  private func line(of output: FileHandle) -> String {
    var bytes: [UInt8] = []
    while let byte = output.readData(ofLength: 1).first, byte != 0x0A { bytes.append(byte) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
