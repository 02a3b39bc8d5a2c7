// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Keepsake

/// The victim. It tells what it has done by single bytes, each before it goes on.
struct WorkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "work", abstract: "Does what is killed.", shouldDisplay: false)

  @Argument var work: Work
  @Argument var keeper: Keeper
  @Argument var folder: String
  @Argument var seed: UInt64

  func run() throws {
    Sign.begin.give()
    try work(in: folder)
    Sign.end.give()
  }

  /// Returns when the files are closed too.
  private func work(in folder: String) throws {
    func device(_ name: String) throws -> Device {
      try Device(path: Round.path(name, in: folder), access: .existing)
    }
    switch work {
    case .sets, .transactions, .typed:
      let settings = try keeper.open(in: folder)
      var steps = Steps(work, seed: seed)
      for _ in 0..<Steps.count {
        try settings.apply(steps.next(), as: work)
        Sign.acknowledgement.give()
      }
    case .merge: try device("a").merge(with: device("b"))
    case .compaction: try device("a").compact(keeping: .zero)
    case .clone: try device("a").clone(to: Round.path("c", in: folder))
    case .importing: throw ValidationError("kvsync does this")
    }
  }
}

/// What a victim tells.
enum Sign: UInt8 {
  case begin = 98
  case acknowledgement = 97
  case end = 101

  func give() {
    var byte = rawValue
    _ = write(STDOUT_FILENO, &byte, 1)
  }
}

/// What `UserDefaults` holds can only be seen in a new process, which has nothing in memory.
struct ReadCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "read", abstract: "Prints what UserDefaults holds.", shouldDisplay: false)

  @Argument var work: Work

  func run() throws {
    let settings = FoundationSettings(synchronizes: false)
    for (key, value) in try settings.contents(of: Steps.keys(work)) { say("\(key)\t\(value)") }
  }
}
