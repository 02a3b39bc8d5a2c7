// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import KeepsakeDevice
import KeepsakeValues
import Synchronization
import TestSupport
import Testing

/// Random sets of several threads against one order in which they may have been made.
@Suite struct GroupCommitHistoryTests {
  private static let threads = 8
  private static let sets = 60

  /// What a thread was told.
  private final class Told: Sendable {
    /// By thread, in its own order; each value is unique.
    let acknowledged = Mutex(
      Array(repeating: [String](), count: GroupCommitHistoryTests.threads))
    let refused = Mutex(Set<String>())
  }

  private static func play(_ thread: Int, _ seed: UInt64, _ device: Device, _ told: Told) {
    var generator = SeededGenerator(seed: seed &+ UInt64(thread))
    let long = String(repeating: "x", count: 1 << 20)
    for number in 0..<sets {
      let isLarge = generator.chance(15)
      let durability: Durability = generator.chance(10) ? .powerSafe : .crashSafe
      func write() -> LocalWrite {
        LocalWrite(
          store: "cloud", key: "k\(Int.random(in: 0..<16, using: &generator))",
          value: .string("\(thread).\(number)" + (isLarge ? long : "")))
      }
      let value = "\(thread).\(number)"
      do {
        if generator.chance(10) {
          let (first, second) = (write(), write())
          try device.transaction(durability: durability) {
            try device.write([first])
            try device.write([second])
          }
        } else {
          try device.write([write()], durability: durability)
        }
        told.acknowledged.withLock { $0[thread].append(value) }
      } catch {
        #expect((error as? KeepsakeError)?.code == .invalidValue, "\(error)")
        _ = told.refused.withLock { $0.insert(value) }
      }
    }
  }

  @Test(arguments: Seeds.list(12))
  func whatThreadsSetIsWhatOneOrderOfTheirSetsLeaves(seed: UInt64) throws {
    let (device, told, heard) = (try Device.temporary(), Told(), Heard())
    let token = heard.observe(device)
    DispatchQueue.concurrentPerform(iterations: Self.threads) { thread in
      Self.play(thread, seed, device, told)
    }
    token.cancel()
    var model: [String: StoredValue] = [:]
    var (order, latest): ([[String]], [String]) = (
      Array(repeating: [], count: Self.threads), []
    )
    var transaction: Int64 = 0
    for set in heard.sets {
      for change in set {
        // Each is a step on top of the one before it.
        #expect(change.old == model[change.key])
        model[change.key] = change.new
        latest.removeAll { $0 == change.key }
        latest.append(change.key)
      }
      guard case .string(let value)? = set.last?.new, let thread = Int(value.prefix(1)) else {
        Issue.record("another value than was set: \(set)")
        continue
      }
      order[thread].append(value)
      #expect(set.allSatisfy { $0.new == .string(value) }, "not one transaction: \(set)")
      #expect((set.first?.transaction ?? 0) > transaction)
      transaction = set.first?.transaction ?? 0
    }
    // All that was acknowledged, nothing else, and for each thread in its own order.
    #expect(order == told.acknowledged.withLock { $0 })
    #expect(told.refused.withLock { $0.count } > 0)
    var (stored, arrival): ([String: StoredValue], [String]) = ([:], [])
    try device.tables.access { connection in
      arrival = try connection.all("SELECT key FROM entry ORDER BY sequence_number") { $0.text(0) }
    }
    try device.forEachEntry { stored[$0.address.key.string] = $0.content.value }
    #expect(stored == model)
    #expect(arrival == latest)
  }
}
