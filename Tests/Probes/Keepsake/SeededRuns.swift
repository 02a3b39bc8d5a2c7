// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeepsakeTesting

/// Runs that follow from a seed.
struct SeededRuns: ParsableArguments {
  @Option(help: "The first seed; the same one gives the same runs. (default: random)")
  var seed: UInt64?

  @Option(help: "Stops after so many minutes.")
  var minutes: Double?

  func validate() throws {
    guard (minutes ?? 1) > 0 else { throw ValidationError("numbers are more than 0") }
  }

  /// Calls `body` with the first seed as it is, and then with those that follow from it, until so
  /// many are done.
  ///
  /// - Parameters:
  ///   - things: what the progress counts, once a minute.
  ///   - body: gets a seed and how many are done, and returns how many more are.
  /// - Returns: how many are done.
  func make(
    _ things: String, upTo count: Int, _ body: (_ seed: UInt64, _ done: Int) throws -> Int
  ) throws -> Int {
    var next = seed ?? .random(in: 0...(.max >> 1))
    say("from seed \(next)")
    let end = minutes.map { Date(timeIntervalSinceNow: $0 * 60) } ?? .distantFuture
    var generator = SeededGenerator(seed: next)
    var (done, last) = (0, Date())
    while done < count, Date() < end {
      done += try body(next, done)
      if Date().timeIntervalSince(last) > 60 {
        say("\(done) \(things)")
        last = Date()
      }
      next = generator.next()
    }
    return done
  }
}
