// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import FuzzTargets
import KeepsakeTesting

struct FuzzCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fuzz",
    abstract: "Gives malformed input to readers, and damaged device files to commands.",
    discussion: "Scripts/fuzz runs it, and libFuzzer if the toolchain has it.",
    subcommands: [FuzzInputs.self, FuzzFiles.self])
}

extension FuzzTarget: ExpressibleByArgument {}

/// The number of mutants, or the time for them.
struct FuzzExtent: ParsableArguments {
  @Option(help: "Stops after so many seconds.") var seconds: Int?
  @Option(help: "Stops after so many mutants.") var mutants: Int?
  @Option(help: "The first mutant; the same seed gives the same one. (default: random)")
  var seed: UInt64?

  func validate() throws {
    guard (seconds ?? 1) > 0, (mutants ?? 1) > 0 else {
      throw ValidationError("--seconds and --mutants are more than 0")
    }
  }

  /// Calls `body` with the seed of each mutant. The first seed is that of `--seed`; the rest follow
  /// from it.
  ///
  /// - Returns: the number of mutants.
  func forEachSeed(_ body: (UInt64) throws -> Void) rethrows -> Int {
    let end = seconds.map { Date(timeIntervalSinceNow: Double($0)) } ?? .distantFuture
    let limit = mutants ?? (seconds == nil ? 1000 : .max)
    var next = seed ?? .random(in: 0...(.max >> 1))
    report("fuzz", "from seed \(next)")
    var generator = SeededGenerator(seed: next)
    var (count, last) = (0, Date())
    while count < limit, Date() < end {
      if Date().timeIntervalSince(last) > 10 {
        report("fuzz", "\(count) mutants")
        last = Date()
      }
      try body(next)
      count += 1
      next = generator.next()
    }
    return count
  }
}
