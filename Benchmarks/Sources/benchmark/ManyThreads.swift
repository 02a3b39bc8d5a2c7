// SPDX-License-Identifier: Apache-2.0
//
// What one operation costs, of all threads together: a cost that does not grow says that threads do
// not hinder each other, and one that falls that they share work.

import Foundation
import Keepsake

private let ours = "Keepsake"
private let lock = "lock and dictionary"
private let locked = "SQLite, C API, behind a lock"
private let grdb = "GRDB alone"
private let handOver = "a call that another thread ends"

func manyThreads(_ report: Report) {
  for threads in Scale.threads { report.run(reads("an Int", by: threads) { blackHole($0.count) }) }
  for threads in Scale.threads {
    report.run(reads("a String", by: threads) { blackHole($0.username) })
  }
  for threads in Scale.threads {
    report.run(
      reads("string(forKey:)", by: threads) { blackHole($0.string(forKey: "username")) })
  }
  for threads in Scale.threads { report.run(sets(by: threads, durability: .crashSafe)) }
  for threads in Scale.threads { report.run(sets(by: threads, durability: .powerSafe)) }
  for threads in Scale.threads { report.run(observing(by: threads)) }
  for threads in Scale.threads { report.run(memory(of: threads)) }
}

private func name(_ threads: Int) -> String {
  threads == 1 ? "by 1 thread" : "by \(threads) threads"
}

private func reads(
  _ what: String, by threads: Int, _ read: @escaping @Sendable (BenchmarkSettings) -> Void
) -> Race {
  let race = Race(
    rounds: 9...61, seconds: 1, growth: .init(cost: "Reading \(what)", .threads, threads))
  let many = max(128_000 / threads, 1_000)
  race.enter(
    ours,
    {
      let settings = try BenchmarkSettings()
      (settings.count, settings.username) = (5, Fixture.value(1))
      return settings
    }
  ) { settings in
    try together(threads) { _ in for _ in 0..<many { read(settings) } } / Double(many * threads)
  }
  race.enter(lock, { LockedValues(["username": Fixture.value(1)]) }) { values in
    try together(threads) { _ in
      for _ in 0..<many { blackHole(values.get("username")) }
    } / Double(many * threads)
  }
  race.row("read \(what) \(name(threads))", ours, beside: [lock])
  return race
}

/// Each thread sets a key of its own.
private func sets(by threads: Int, durability: Durability) -> Race {
  let isSynced = durability == .powerSafe
  let (word, synchronous) = isSynced ? (".powerSafe", "FULL") : (".crashSafe", "NORMAL")
  let race = Race(
    rounds: (isSynced ? 3 : 5)...61, seconds: 2,
    growth: .init(cost: "Setting a key, \(word)", .threads, threads))
  let many = max((isSynced ? 128 : 512) / threads, 4)
  func each(_ set: @escaping @Sendable (String, String) throws -> Void) throws -> Double {
    try together(threads) { thread in
      let key = Fixture.key(thread)
      for number in 0..<many { try set(key, Fixture.value(number % 2)) }
    } / Double(many * threads)
  }
  race.enter(ours, { try BenchmarkSettings(durability: durability) }) { settings in
    let time = try each { settings.set($1, forKey: $0) }
    guard settings.failures.isEmpty else { throw Failure("a set failed") }
    return time
  }
  race.enter(locked, { LockedSets(try RawSets(synchronous: synchronous)) }) { sets in
    try each { try sets.set($0, $1) }
  }
  race.enter(grdb, { try GRDBSets(synchronous: synchronous) }) { sets in
    try each { try sets.set($0, $1) }
  }
  for name in KeyValuePeer.names {
    race.enter(name, { SharedPeer(try KeyValuePeer(name, synced: isSynced)) }) { peer in
      try each { try peer.put($0, $1) }
    }
  }
  race.enter(handOver, { HandOver.shared }) { handOver in try each { _, _ in handOver.call() } }
  race.row(
    "set, \(word), \(name(threads))", ours,
    beside: [locked, grdb] + KeyValuePeer.names + [handOver])
  return race
}

/// Each thread begins to observe a key, and ends it, while another observer keeps the feed on.
private func observing(by threads: Int) -> Race {
  let race = Race(
    rounds: 9...61, seconds: 1, growth: .init(cost: "Observing a key", .threads, threads))
  let many = max(2_048 / threads, 16)
  race.enter(
    ours,
    {
      let settings = try BenchmarkSettings()
      return (settings, settings.observe { _ in })
    }
  ) { settings, token in
    try withExtendedLifetime(token) {
      try together(threads) { thread in
        let key = KeyFilter.keys([Fixture.key(thread)])
        for _ in 0..<many { settings.observe(key) { _ in }.cancel() }
      } / Double(many * threads)
    }
  }
  race.row("begin and end to observe \(name(threads))", ours, beside: [])
  return race
}

/// Its lock lets one thread in at a time.
private final class LockedSets: @unchecked Sendable {
  private let lock = NSLock()
  private let sets: RawSets
  init(_ sets: RawSets) { self.sets = sets }
  func set(_ key: String, _ value: String) throws { try lock.withLock { try sets.set(key, value) } }
}

/// Both libraries let threads share a database, and a put uses nothing else.
private final class SharedPeer: @unchecked Sendable {
  private let peer: KeyValuePeer
  init(_ peer: KeyValuePeer) { self.peer = peer }
  func put(_ key: String, _ value: String) throws { try peer.put(key, value) }
}

private func memory(of threads: Int) -> Race {
  let race = Race(
    [Measure(suffix: "", unit: .bytes)], rounds: 1...3, seconds: 1, warmsUp: false,
    growth: .init(cost: "Memory, 1,000 keys read and set", .threads, threads))
  for kind in [ours, lock] {
    race.enter(kind, { try Fixture(keys: 1_000).copy() }) { path in
      guard let bytes = Double(try Command.role("memory of threads", [kind, path, "\(threads)"]))
      else { throw Failure("no figure") }
      return bytes
    }
  }
  race.row("memory, 1,000 keys read and set \(name(threads))", ours, beside: [lock])
  return race
}

/// The other process.
enum ThreadRoles {
  static func memory(_ kind: String, _ path: String, _ threads: Int) throws {
    let before = try OpenRoles.residentBytes()
    if kind == ours {
      let settings = try BenchmarkSettings(path)
      try use(threads, read: { settings.string(forKey: $0) }, set: { settings.set($1, forKey: $0) })
      print(try OpenRoles.residentBytes() - before)
      blackHole(settings)
    } else {
      let values = LockedValues<String, String>([:])
      try use(threads, read: { values.get($0) }, set: { values.set($0, $1) })
      print(try OpenRoles.residentBytes() - before)
      blackHole(values)
    }
  }

  private static func use(
    _ threads: Int, read: @escaping @Sendable (String) -> String?,
    set: @escaping @Sendable (String, String) -> Void
  ) throws {
    _ = try together(threads) { thread in
      for number in stride(from: thread, to: 1_000, by: threads) {
        set(Fixture.key(number), Fixture.value(number + 1))
      }
      for number in 0..<1_000 { blackHole(read(Fixture.key(number))) }
    }
  }
}
