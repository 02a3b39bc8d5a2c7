// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Keepsake
import KeepsakeDevice
import KeepsakeValues
import Synchronization
import TestSupport
import Testing

@Suite struct ValueCacheTests {
  private final class Numbers: UserDefaultsStore, @unchecked Sendable {
    @Setting var key = 0
  }

  private let store: Numbers

  init() throws { store = try Numbers(on: .temporary()) }

  private func version() throws -> StoreVersion { try #require(store.backing.version) }

  private func insert(
    _ values: [(String, StoredValue?)], into cache: ValueCache, _ version: StoreVersion
  ) {
    for (key, value) in values { cache.insert(value, for: ByteText(key), version: version) }
  }

  @Test func everyKeyThatWasReadIsKnownUntilItChanges() throws {
    let keys = (0..<1_000).map { "key \($0)" }
    try store.transaction {
      for (number, key) in keys.enumerated() { store.set(number, forKey: key) }
    }
    func read() -> [Int] { keys.map { store.integer(forKey: $0) } }
    #expect(read() == Array(0..<1_000))
    for changed in [0, 500, 999] {
      store.set(-1, forKey: keys[changed])
      let trace = try StatementTrace.of([store.device]) {
        for (number, key) in keys.enumerated() where number != changed {
          _ = store.string(forKey: key)
        }
      }
      #expect(trace.statements == [], "after \(keys[changed])")
      #expect(store.integer(forKey: keys[changed]) == -1)
      store.set(changed, forKey: keys[changed])
      #expect(store.integer(forKey: keys[changed]) == changed)
    }
  }

  @Test func whatIsKnownHasAnEnd() throws {
    let cache = ValueCache(limit: 64)
    let version = try version()
    let keys = (0..<1_000).map { "key \($0)" }
    for key in keys {
      insert([(key, "value")], into: cache, version)
      #expect(cache.read(key) { $0 } == "value")
    }
    #expect(keys.count { cache.read($0) { $0 } != nil } <= 64)
  }

  @Test func whatWasReadBeforeACommitIsNotKeptAfterIt() throws {
    let cache = ValueCache()
    let before = try version()
    store.set("new", forKey: "key")
    insert([("key", "new"), ("none", nil)], into: cache, try version())
    insert([("key", "old")], into: cache, before)
    #expect(cache.read("key") { $0 } == "new")
    #expect(cache.read("none") { .some($0) } == .some(nil))
    #expect(cache.read("other") { .some($0) } == nil)
  }

  /// Keys that differ in a byte, or only for SQLite.
  @Test func keysAreToldApartByTheirBytes() throws {
    let cache = ValueCache()
    let letters = (0..<40).map { String(repeating: "a", count: $0) }
    let changed = letters.dropFirst().flatMap { key in
      key.utf8.indices.map { String(key[..<$0]) + "b" + String(key[key.utf8.index(after: $0)...]) }
    }
    let keys = letters + changed + ["é", "e\u{301}"]
    let version = try version()
    insert(keys.enumerated().map { ($1, .integer(Int64($0))) }, into: cache, version)
    for (number, key) in keys.enumerated() {
      #expect(cache.read(key) { $0 } == .integer(Int64(number)), "\(key)")
    }
  }

  @Test func readersNeverSeeWhatIsOlderThanACommitThatTheyKnowOf() throws {
    let (store, last) = (store, 300)
    let committed = Atomic(0)
    store.set(0, forKey: "key")
    DispatchQueue.concurrentPerform(iterations: 5) { thread in
      guard thread > 0 else {
        for number in 1...last {
          store.set(number, forKey: "key")
          committed.store(number, ordering: .releasing)
          if number.isMultiple(of: 7) { store.set(number, forKey: "key \(number)") }
        }
        return
      }
      var latest = 0
      while latest < last {
        let least = max(latest, committed.load(ordering: .acquiring))
        latest =
          switch thread {
          case 1: store[SettingKey("key", default: 0)]
          case 2: store.key
          default: store.integer(forKey: "key")
          }
        guard latest >= least else {
          Issue.record("\(latest) after \(least)")
          return
        }
        _ = store.string(forKey: "key \(latest)")
      }
    }
  }
}
