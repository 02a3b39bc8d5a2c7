// SPDX-License-Identifier: Apache-2.0
//
// Histories of switches, writes and slow observers, by many threads. The oracle is a model of each
// observer, which applies the changes: it must hold one account's values at any time, and in the
// end those that the store has.

import Foundation
import Keepsake
import KeepsakeValues
import Synchronization
import TestSupport
import Testing

/// "2:17" is the 17th value, and was written for the account 2.
private func mark(of value: StoredValue?) -> Int? {
  guard case .string(let text)? = value else { return nil }
  return text.split(separator: ":").first.flatMap { Int($0) }
}

private final class Model: Sendable {
  let filter: KeyFilter
  private let held: Mutex<[String: StoredValue]>
  private let calls = Atomic(0)
  private let problem = Mutex<String?>(nil)

  init(_ filter: KeyFilter, of store: SettingsStore) {
    self.filter = filter
    held = Mutex(Self.values(of: store, filter))
  }

  private static func values(
    of store: SettingsStore, _ filter: KeyFilter
  ) -> [String: StoredValue] {
    store.dictionaryRepresentation().filter { filter.contains(ByteText($0.key)) }
  }

  func apply(_ changes: [SettingChange]) {
    if calls.add(1, ordering: .relaxed).newValue > 1 { note("two calls at once") }
    defer { calls.subtract(1, ordering: .relaxed) }
    let problem = held.withLock { held -> String? in
      for change in changes {
        guard held[change.key] == change.old else {
          return "\(change) to \(String(describing: held[change.key]))"
        }
        held[change.key] = change.new
      }
      return Set(held.values.map(mark)).count > 1 ? "\(held) after \(changes)" : nil
    }
    if let problem { note(problem) }
  }

  private func note(_ text: String) { problem.withLock { $0 = $0 ?? text } }

  /// The first problem; nil for none.
  func problem(_ store: SettingsStore) -> String? {
    if let problem = problem.withLock({ $0 }) { return problem }
    let (held, values) = (held.withLock { $0 }, Self.values(of: store, filter))
    return held == values ? nil : "holds \(held) instead of \(values)"
  }
}

@Suite(.serialized) struct AccountHistoryTests {
  private static let keys = ["a", "b", "ab", "c"]
  private static let accounts = 3

  /// Even while the store is on the account that `present` names; odd during a switch.
  private final class Present: Sendable {
    private let epoch = Atomic(0)
    private let account = Atomic(0)

    func become(_ next: Int, _ body: () throws -> Void) rethrows {
      epoch.add(1, ordering: .sequentiallyConsistent)
      try body()
      account.store(next, ordering: .sequentiallyConsistent)
      epoch.add(1, ordering: .sequentiallyConsistent)
    }

    /// - Returns: the account, if it was the store's from before `body` to after it.
    func around<Value>(_ body: () throws -> Value) rethrows -> (Int, Value)? {
      let before = epoch.load(ordering: .sequentiallyConsistent)
      let account = account.load(ordering: .sequentiallyConsistent)
      let value = try body()
      let after = epoch.load(ordering: .sequentiallyConsistent)
      return before == after && before.isMultiple(of: 2) ? (account, value) : nil
    }
  }

  private static func makeStores(inMemory: Bool) throws -> [CloudKeyValueStore] {
    try (0..<accounts).map { account in
      let device = inMemory ? try Device.inMemory() : try Device.temporary()
      let store = try CloudKeyValueStore(on: device)
      for key in keys { try store.write(.string("\(account):0"), for: key) }
      return store
    }
  }

  /// Numbers values.
  private final class Serial: Sendable {
    private let count = Atomic(0)

    func value(_ account: Int) -> StoredValue {
      .string("\(account):\(count.add(1, ordering: .relaxed).newValue)")
    }
  }

  @Test(arguments: Seeds.list(24, debug: 2))
  func anObserverHoldsOneAccountsValues(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let inAccounts = try Self.makeStores(inMemory: random.chance(50))
    let store = try CloudKeyValueStore(on: inAccounts[0].device)
    let filters: [KeyFilter] = [.all, ["a", "b"], .prefix("a"), .all]
    let models = filters.map { Model($0, of: store) }
    let tokens = models.enumerated().map { place, model in
      store.observe(model.filter) { changes in
        // The first is never slow, and others come after a slow one.
        for _ in 0..<(place * 20) { sched_yield() }
        model.apply(changes)
      }
    }
    let (writers, others) = (DispatchGroup(), DispatchGroup())
    let serial = Serial()
    for _ in 0..<3 {
      let seed = random.next()
      DispatchQueue.global().async(group: writers) {
        #expect(throws: Never.self) {
          var random = SeededGenerator(seed: seed)
          for _ in 0..<150 { try Self.write(store, inAccounts, serial, &random) }
        }
      }
    }
    let present = Present()
    let isOver = Atomic<Bool>(false)
    DispatchQueue.global().async(group: others) {
      #expect(throws: Never.self) {
        let setting = try store.setting(SettingKey("a", default: ""))
        while !isOver.load(ordering: .relaxed) {
          let read = present.around {
            [.string(setting.wrappedValue)] + Self.keys.map { store[$0] }
          }
          guard let (account, values) = read, values.contains(where: { mark(of: $0) != account })
          else { continue }
          Issue.record("KEEPSAKE_SEED=\(seed): \(values) in the account \(account)")
          break
        }
      }
    }
    for _ in 0..<60 {
      let next = Int.random(in: 0..<Self.accounts, using: &random)
      try present.become(next) { try store.switchAccount(to: inAccounts[next].device) }
      for _ in 0..<Int.random(in: 0..<40, using: &random) { sched_yield() }
    }
    writers.wait()
    isOver.store(true, ordering: .relaxed)
    others.wait()
    for model in models {
      if let problem = model.problem(store) { Issue.record("KEEPSAKE_SEED=\(seed): \(problem)") }
    }
    #expect(store.errors.isEmpty)
    for token in tokens { token.cancel() }
    #expect(inAccounts.allSatisfy { !$0.device.hasObservers })
  }

  private static func write(
    _ store: CloudKeyValueStore, _ inAccounts: [CloudKeyValueStore], _ serial: Serial,
    _ random: inout SeededGenerator
  ) throws {
    let account = Int.random(in: 0..<accounts, using: &random)
    let keys = keys.filter { _ in random.chance(40) }
    guard random.chance(50) else {
      // By another object, which stays with its account.
      for key in keys { try inAccounts[account].write(serial.value(account), for: key) }
      return
    }
    try store.transaction {
      let device = store.device
      let account = inAccounts.firstIndex { $0.device === device } ?? 0
      for key in keys { try store.write(serial.value(account), for: key) }
    }
  }
}
