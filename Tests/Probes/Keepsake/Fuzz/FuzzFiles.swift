// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import TestSupport

struct FuzzFiles: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "files", abstract: "Gives device files that no device has written to commands.",
    discussion: """
      Each mutant goes to one command, as either side of a command with two files. A command must \
      not crash, run long, use much memory, or change the other file when it rejects this one. A \
      file of SQL statements goes to every command.
      """)

  @Argument(help: "Files of SQL statements, in place of random mutants.") var files: [String] = []
  @OptionGroup var extent: FuzzExtent
  @Flag(help: "Prints the changes of --seed instead of using them.") var show = false

  func validate() throws {
    guard !show || extent.seed != nil else { throw ValidationError("--show needs --seed") }
  }

  func run() throws {
    let arena = try Arena()
    let source = try MutantSource(arena)
    if let seed = extent.seed, show {
      return print(try source.mutant(seed).0)
    }
    for file in files {
      let text = try String(contentsOfFile: file, encoding: .utf8)
      let mutant = FileMutant(log: .none, changes: [.statement(text)])
      let written = try source.files(of: mutant)
      guard written[""] != arena.whole else {
        throw Harm(description: "\(file): its statements fail in SQLite, or change nothing")
      }
      for command in FileCommand.allCases {
        try give(arena, (mutant, written), command, file)
      }
    }
    guard files.isEmpty else { return report("fuzz", "\(files.count) files, and all went well") }
    let commands = FileCommand.allCases
    let count = try extent.forEachSeed { seed in
      let mutant = try source.mutant(seed)
      // The seed alone selects the command, so that a single seed gives the same one.
      let command = commands[Int(seed % UInt64(commands.count))]
      try give(arena, mutant, command, "seed \(seed)")
    }
    report("fuzz", "\(count) device files, and all went well")
  }

  private func give(
    _ arena: Arena, _ mutant: (FileMutant, files: [String: Data]), _ command: FileCommand,
    _ name: String
  ) throws {
    do {
      try arena.give(mutant.files, command, mutant.0.description)
    } catch let harm as Harm {
      report("fuzz", "\(name): \(harm)")
      try keep(mutant.files)
      throw ExitCode.failure
    }
  }

  /// Writes the files to a folder that stays.
  private func keep(_ files: [String: Data]) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "fuzz.files-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (suffix, bytes) in files {
      try bytes.write(to: folder.appendingPathComponent("bad" + suffix))
    }
    report("fuzz", "the files are in \(folder.path)")
  }
}
