// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Faults
import Foundation
import KeepsakeTesting

struct PowerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "power",
    abstract: "Cuts the power at any moment, and checks what a disk could hold then.",
    discussion: """
      Synchronized writes have to be there, and the last ones of the others may be missing. The \
      devices have to sync and agree. The first cut that fails is printed, and ends the run.
      """)

  @Option(help: "The first workload; the same seed gives the same cuts. (default: random)")
  var seed: UInt64?

  @Option(help: "The number of cuts.")
  var cuts = 10_000

  @Option(help: "Stops after so many minutes.")
  var minutes: Double?

  @Option(help: "The number of cuts of each workload.")
  var each = 100

  @Option(help: "Only this cut of the first workload.")
  var cut: Int?

  func validate() throws {
    guard cuts > 0, each > 0, (minutes ?? 1) > 0 else {
      throw ValidationError("numbers are more than 0")
    }
  }

  func run() throws {
    FileSystemCalls.ignoreSyncs()
    let first = seed ?? .random(in: 0...(.max >> 1))
    say("from seed \(first)")
    do {
      if let cut { return try PowerRun(seed: first).cut(cut) }
      try run(from: first)
    } catch let complaint as Complaint {
      say("\(complaint)")
      throw ExitCode.failure
    }
  }

  private func run(from first: UInt64) throws {
    let end = minutes.map { Date(timeIntervalSinceNow: $0 * 60) } ?? .distantFuture
    var generator = SeededGenerator(seed: first)
    var (seed, done, events) = (first, 0, 0)
    var last = Date()
    while done < cuts, Date() < end {
      let power = try PowerRun(seed: seed)
      events += power.events
      for number in 0..<min(each, cuts - done) {
        try power.cut(number)
        done += 1
      }
      if Date().timeIntervalSince(last) > 60 {
        say("\(done) cuts")
        last = Date()
      }
      seed = generator.next()
    }
    say("\(done) cuts in \(events) events: nothing was lost")
  }
}
