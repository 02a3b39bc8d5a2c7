// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dispatch
import Foundation
import Keepsake
import KeepsakeSync
import Synchronization

/// The victim. It prints a byte after each step, before the next step begins.
struct WorkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "work", abstract: "Works until it is killed.", shouldDisplay: false)

  @Argument var work: VictimWork
  @Argument var folder: String
  @Argument var seed: UInt64

  func run() throws {
    VictimSign.begin.give()
    try work(in: folder)
    VictimSign.end.give()
  }

  /// Returns when the files are closed too.
  private func work(in folder: String) throws {
    func device(_ name: String) throws -> Device {
      try Device(path: KillRound.path(name, in: folder), access: .existing)
    }
    switch work {
    case .sets, .transactions, .typed:
      let settings = try SharedSettings(on: device("a"))
      var steps = WriterSteps(work, seed: seed)
      for _ in 0..<WriterSteps.count {
        try settings.apply(steps.next(), as: work)
        VictimSign.acknowledgement.give()
      }
    case .threads:
      try Self.setAtOnce(SharedSettings(on: device("a"))) { VictimSign.give(thread: $0) }
    // Many transactions, so that some kills come between two of them.
    case .merge:
      try device("a").merge(with: device("b"), options: MergeOptions(chunkSize: 40))
    case .compaction: try device("a").compact(keeping: .zero)
    case .clone: try device("a").clone(to: KillRound.path("c", in: folder))
    case .importing: throw ValidationError("kvsync does this work")
    }
  }

  /// Does all steps of all threads.
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

/// The bytes that a victim prints.
enum VictimSign: UInt8 {
  case begin = 98
  case acknowledgement = 97
  case end = 101

  func give() { Self.give(rawValue) }

  /// Acknowledges the next step of a thread.
  static func give(thread: Int) { give(UInt8(thread)) }

  private static func give(_ byte: UInt8) {
    var byte = byte
    _ = write(STDOUT_FILENO, &byte, 1)
  }
}
