// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import TestSupport

struct Files: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Gives commands device files that no device has written.",
    discussion: """
      Each mutant goes to one command, as either side of those that take two \
      files: none may crash, run long, take much memory, or change the other file when it refuses \
      this one. A file of SQL statements goes to every command.
      """)

  @Argument(help: "Files of SQL statements, in place of random mutants.") var files: [String] = []
  @OptionGroup var extent: Extent
  @Flag(help: "Give each mutant to every command.") var every = false
  @Flag(help: "Print what is done to the file of --seed instead of using it.") var show = false

  func validate() throws {
    guard !show || extent.seed != nil else { throw ValidationError("--show needs --seed") }
  }

  func run() throws {
    let arena = try Arena()
    let source = try Source(arena)
    if let seed = extent.seed, show {
      return print(try source.mutant(seed).0)
    }
    for file in files {
      let text = try String(contentsOfFile: file, encoding: .utf8)
      let mutant = Mutant(log: .none, changes: [.statement(text)])
      let written = try source.files(of: mutant)
      for command in FileCommand.allCases {
        try meet(arena, (mutant, written), command, file)
      }
    }
    guard files.isEmpty else { return say("\(files.count) files, and all went well") }
    let commands = FileCommand.allCases
    let count = try extent.forEachSeed { seed in
      let mutant = try source.mutant(seed)
      // By the seed alone, so that it is the same one alone.
      let command = commands[Int(seed % UInt64(commands.count))]
      for command in every ? commands : [command] {
        try meet(arena, mutant, command, "seed \(seed)")
      }
    }
    say("\(count) device files, and all went well")
  }

  private func meet(
    _ arena: Arena, _ mutant: (Mutant, files: [String: Data]), _ command: FileCommand,
    _ name: String
  ) throws {
    do {
      try arena.meet(mutant.files, command, mutant.0.description)
    } catch let harm as Harm {
      say("\(name): \(harm)")
      try keep(mutant.files)
      throw ExitCode.failure
    }
  }

  /// Writes the files where they stay.
  private func keep(_ files: [String: Data]) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "fuzz.files-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (suffix, bytes) in files {
      try bytes.write(to: folder.appendingPathComponent("bad" + suffix))
    }
    say("the files are in \(folder.path)")
  }
}
