// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

extension Oracle {
  /// A meeting as it was.
  struct Met {
    let encounter: Encounter
    /// By place in the world.
    let clocks: [Int64]
    /// Of everybody who took part, afterwards.
    let facts: [Int: Facts]
    /// Whether it ended in the middle.
    let isCut: Bool
    /// What everybody had when it began.
    let start: [Mind]
    /// What was written while it lasted.
    let meanwhile: Entry?

    func travels(_ address: Address) -> Bool {
      encounter.stores?.contains { ByteText($0) == address.store }
        ?? StoreName.isSynced(address.store.string)
    }
  }

  mutating func met(_ met: Met) throws {
    let before = minds
    let places = met.encounter.places
    join(met)
    // Nothing comes but from somebody who took part. What was written meanwhile, and what it took
    // the place of, may or may not have been read by the others.
    var there: [Address: Set<Entry>] = [:]
    for mind in places.flatMap({ [met.start[$0], before[$0]] }) {
      for entry in mind.shown.values { there[entry.address, default: []].insert(entry) }
      for entry in mind.waiting { there[entry.address, default: []].insert(entry) }
    }
    try registerAnswers(met)
    let joined = minds
    for place in places {
      guard let facts = met.facts[place] else { continue }
      hasHeld = hasHeld || !facts.held.isEmpty
      for address in Set(minds[place].shown.keys).union(facts.shown.keys) {
        let found = facts.shown[address]
        if found == minds[place].shown[address] { continue }
        if met.isCut || address == met.meanwhile?.address {
          let old = before[place].shown[address]
          let isNews = found.map { found in
            there[address, default: []].contains(found)
              && old.map { wins(found, over: $0) } ?? true
          }
          if found == old || isNews == true {
            minds[place].show(found, at: address)
            continue
          }
          if isExplained(found, old) {
            minds[place].show(found?.content.isTombstone == false ? found : old, at: address)
            continue
          }
        }
        if isExplained(found, joined[place].shown[address]) {
          if found?.content.isTombstone == false || !isSure {
            minds[place].show(found, at: address)
          }
          continue
        }
        throw Divergence(
          description: "device \(place) has \(show(found)) at \(name(address)), not "
            + show(joined[place].shown[address]))
      }
      minds[place].look(at: facts, after: before[place].newest)
      try compareWaiting(place, facts, before[place], met)
    }
    if !met.isCut, !met.encounter.isOneWay { noteMet(met) }
    if met.isCut { for place in places { minds[place].known = before[place].known } }
  }

  private mutating func join(_ met: Met) {
    let places = met.encounter.places
    func read(_ reader: Int, _ other: Int) {
      minds[reader].read(minds[other], met.travels, at: met.clocks[reader])
    }
    guard !met.encounter.isOneWay else {
      let last = places[places.count - 1]
      minds[last].promote(at: met.clocks[last])
      for other in places.dropLast() { read(last, other) }
      return
    }
    for place in places { minds[place].promote(at: met.clocks[place]) }
    for other in places.dropFirst() { read(places[0], other) }
    for other in places.dropFirst() { read(other, places[0]) }
  }

  /// What waits and will win has to be what ought to.
  private mutating func compareWaiting(
    _ place: Int, _ facts: Facts, _ before: Mind, _ met: Met
  ) throws {
    var found = minds[place]
    found.waiting = facts.held
    // A deletion that was forgotten may still be known to the oracle alone.
    func mayMatter(_ entry: Entry) -> Bool {
      !entry.content.isTombstone || gone[entry.address] == nil
    }
    let real = found.promising.filter(mayMatter)
    let ideal = minds[place].promising.filter(mayMatter)
    guard real != ideal else { return }
    let mayWait = ideal.union(before.waiting).union(met.meanwhile.map { [$0] } ?? [])
    let isLoose = met.isCut || met.meanwhile != nil
    guard !isSure || isLoose && real.isSubset(of: mayWait) else {
      throw Divergence(
        description: "device \(place) keeps \(real.map(show)) waiting, not \(ideal.map(show))")
    }
    minds[place].waiting = facts.held
  }

  // MARK: - Collection

  private mutating func registerAnswers(_ met: Met) throws {
    guard hasCollected else { return }
    let ids = Set(met.facts.values.map(\.id))
    for facts in met.facts.values {
      for entry in facts.shown.values
      where entry.content.isTombstone && !writes.contains(entry) {
        guard !isSure || mayAnswer(entry, by: ids) else {
          throw Divergence(description: "nobody wrote \(show(entry)) at \(name(entry.address))")
        }
        noteAnswer(entry)
        for place in met.encounter.places where met.facts[place]?.shown[entry.address] == entry {
          minds[place].join(entry)
          minds[place].learn(entry)
        }
      }
    }
  }

  private func isExplained(_ found: Entry?, _ ideal: Entry?) -> Bool {
    guard isSure else { return found.map(writes.contains) ?? true }
    guard hasCollected, let ideal, ideal.content.isTombstone, gone[ideal.address] != nil else {
      return false
    }
    guard let found else { return true }
    return found.content.isTombstone ? writes.contains(found) : mayReturn(found)
  }

  private mutating func noteMet(_ met: Met) {
    let center = met.encounter.places[0]
    for other in met.encounter.places.dropFirst() {
      let addresses = [center, other].flatMap { met.facts[$0]?.shown.keys.map(\.store) ?? [] }
      for store in Set(addresses) where met.travels(Address(store: store.string, key: "")) {
        minds[center].met[store, default: []].insert(other)
        minds[other].met[store, default: []].insert(center)
      }
    }
  }
}
