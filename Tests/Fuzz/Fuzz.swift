// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import FuzzTargets
import TestSupport

@main
struct Fuzz: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fuzz",
    abstract: "Gives readers and commands what nobody should have written.",
    discussion: "Scripts/fuzz runs it, and libFuzzer where that is.",
    subcommands: [Inputs.self, Files.self])
}

/// Prints a line at once.
func say(_ line: String) {
  FileHandle.standardError.write(Data("fuzz: \(line)\n".utf8))
}

extension FuzzTarget: ExpressibleByArgument {}

/// How long to go on.
struct Extent: ParsableArguments {
  @Option(help: "Stop after so many seconds.") var seconds: Int?
  @Option(help: "Stop after so many mutants.") var mutants: Int?
  @Option(help: "The first mutant; the same seed gives the same one. (default: random)")
  var seed: UInt64?

  func validate() throws {
    guard (seconds ?? 1) > 0, (mutants ?? 1) > 0 else {
      throw ValidationError("--seconds and --mutants are more than 0")
    }
  }

  /// Calls `body` with the seed of each mutant. The first is what was given, and the rest follow
  /// from it.
  ///
  /// - Returns: how many there were.
  func forEachSeed(_ body: (UInt64) throws -> Void) rethrows -> Int {
    let end = seconds.map { Date(timeIntervalSinceNow: Double($0)) } ?? .distantFuture
    let limit = mutants ?? (seconds == nil ? 1000 : .max)
    var next = seed ?? .random(in: 0...(.max >> 1))
    say("from seed \(next)")
    var generator = SeededGenerator(seed: next)
    var (count, last) = (0, Date())
    while count < limit, Date() < end {
      if Date().timeIntervalSince(last) > 10 {
        say("\(count) mutants")
        last = Date()
      }
      try body(next)
      count += 1
      next = generator.next()
    }
    return count
  }
}
