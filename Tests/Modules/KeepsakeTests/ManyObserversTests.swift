// SPDX-License-Identifier: Apache-2.0

import Keepsake
import Synchronization
import TestSupport
import Testing

@Suite struct ManyObserversTests {
  private final class Log: Sendable {
    private let lines = Mutex<[String]>([])
    func add(_ line: String) { lines.withLock { $0.append(line) } }
    func take() -> [String] {
      lines.withLock { lines in
        defer { lines = [] }
        return lines
      }
    }
  }

  private static let keys = ["a", "b", "ab", "\u{e9}", "e\u{301}"]

  private struct Filter: Sendable {
    let filter: KeyFilter
    /// Whether it lets a key through.
    let admits: @Sendable (String) -> Bool
  }

  private static let filters: [Filter] = {
    var all: [Filter] = []
    for key in keys {
      all.append(Filter(filter: .key(key)) { $0.utf8.elementsEqual(key.utf8) })
    }
    all.append(Filter(filter: .all) { _ in true })
    all.append(Filter(filter: ["a", "b"]) { ["a", "b"].contains($0) })
    all.append(Filter(filter: .keys([])) { _ in false })
    all.append(Filter(filter: .prefix("a")) { $0.hasPrefix("a") })
    return all
  }()

  private struct Write {
    let store: Int
    let key: String
    func isSame(_ other: Write) -> Bool {
      store == other.store && key.utf8.elementsEqual(other.key.utf8)
    }
  }

  private struct Listener {
    let name: Int
    let store: Int
    let filter: Int
    let token: ObservationToken
    func hears(_ write: Write) -> Bool {
      write.store == store && ManyObserversTests.filters[filter].admits(write.key)
    }
  }

  private let device: Device
  private let stores: [UserDefaultsStore]
  private let log = Log()

  init() throws {
    let device = try Device.inMemory()
    self.device = device
    stores = try ["x", "y", "z"].map {
      try UserDefaultsStore(on: device, suite: $0, arguments: .none)
    }
  }

  private func listener(_ name: Int, _ random: inout SeededGenerator) -> Listener {
    let store = Int.random(in: 0..<3, using: &random)
    let filter = Self.filters.indices.randomElement(using: &random) ?? 0
    let token = stores[store].observe(Self.filters[filter].filter) { [log] changes in
      log.add("\(name): \(changes.map { "\($0.store) \($0.key)" })")
    }
    return Listener(name: name, store: store, filter: filter, token: token)
  }

  /// Each key of a store at most once.
  private func writes(_ random: inout SeededGenerator) -> [Write] {
    var writes: [Write] = []
    for _ in 0...Int.random(in: 0..<20, using: &random) {
      let key = Self.keys.randomElement(using: &random) ?? ""
      let write = Write(store: Int.random(in: 0..<3, using: &random), key: key)
      if !writes.contains(where: write.isSame) { writes.append(write) }
    }
    return writes
  }

  /// There are more observers than changes in some transactions, and fewer in others.
  @Test(arguments: Seeds.list(4))
  func eachHearsOfItsOwnInTheOrderInWhichTheyCame(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var listeners: [Listener] = []
    for round in 0..<60 {
      if random.chance(10), let place = listeners.indices.randomElement(using: &random) {
        listeners.remove(at: place).token.cancel()
      }
      if random.chance(60) { listeners.append(listener(round, &random)) }
      let writes = writes(&random)
      try device.transaction {
        for write in writes {
          try stores[write.store].write(.integer(Int64(round)), for: write.key)
        }
      }
      let expected = listeners.compactMap { listener -> String? in
        let heard = writes.filter(listener.hears)
        let changes = heard.map { "\(stores[$0.store].storeName) \($0.key)" }
        return heard.isEmpty ? nil : "\(listener.name): \(changes)"
      }
      #expect(log.take() == expected, "KEEPSAKE_SEED=\(seed), round \(round)")
    }
    #expect(listeners.count > 10)
  }
}
