// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dispatch
import Foundation
import Keepsake
import Synchronization

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
    case .threads:
      try Self.setAtOnce(SharedSettings(on: device("a"))) { Sign.give(thread: $0) }
    case .merge: try device("a").merge(with: device("b"))
    case .compaction: try device("a").compact(keeping: .zero)
    case .clone: try device("a").clone(to: Round.path("c", in: folder))
    case .importing: throw ValidationError("kvsync does this")
    }
  }

  /// All steps of all threads.
  ///
  /// - Parameter acknowledge: is called on a thread when its next step has returned.
  static func setAtOnce(
    _ settings: SharedSettings, _ acknowledge: @escaping @Sendable (_ thread: Int) -> Void
  ) throws {
    let failure = Mutex<(any Error)?>(nil)
    let (ended, count) = (DispatchSemaphore(value: 0), ThreadSteps.threads)
    for thread in 0..<count {
      Thread.detachNewThread {
        defer { ended.signal() }
        do {
          for number in 1...ThreadSteps.count {
            let key = ThreadSteps.key(thread, number)
            try settings.write(.integer(Int64(number)), for: key)
            acknowledge(thread)
          }
        } catch {
          failure.withLock { $0 = error }
        }
      }
    }
    for _ in 0..<count { ended.wait() }
    if let failure = failure.withLock({ $0 }) { throw failure }
  }
}

/// What a victim tells.
enum Sign: UInt8 {
  case begin = 98
  case acknowledgement = 97
  case end = 101

  func give() { Self.give(rawValue) }

  /// That the next step of one of several threads has returned.
  static func give(thread: Int) { give(UInt8(thread)) }

  private static func give(_ byte: UInt8) {
    var byte = byte
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
