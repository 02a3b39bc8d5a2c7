// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

extension Oracle {
  /// An exchange as it was.
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
    let hub = hasHub ? met.facts[0] : nil
    if let hub {
      let devices = met.facts.filter { $0.key != 0 }.values
      try forget(before[0], hub, at: met.clocks[0]) { old in
        !devices.contains { $0.shown[old.address] == old || $0.held.contains(old) }
      }
    }
    if hub != nil, places.count > 2 { passOver(met) }
    try join(met)
    if let hub { try forget(before[0], hub, at: met.clocks[0], isCut: met.isCut) }
    // Nothing comes but from somebody who took part. What was written meanwhile, and what it took
    // the place of, may or may not have been read by the others.
    var there: [Address: Set<Entry>] = [:]
    for mind in places.flatMap({ [met.start[$0], before[$0]] }) {
      for entry in mind.shown.values { there[entry.address, default: []].insert(entry) }
      for entry in mind.waiting { there[entry.address, default: []].insert(entry) }
      for entry in mind.graves.values { there[entry.address, default: []].insert(entry) }
    }
    for place in places {
      guard let facts = met.facts[place] else { continue }
      hasHeld = hasHeld || !facts.held.isEmpty && !(hasHub && place == 0)
      for address in Set(minds[place].shown.keys).union(facts.shown.keys) {
        let found = facts.shown[address]
        if found == minds[place].shown[address] { continue }
        if met.isCut || address == met.meanwhile?.address {
          // What the hub has forgotten meanwhile no longer keeps anything out.
          let old = before[place].shown[address].flatMap { old in
            hub != nil && place == 0 && minds[0].forgotten.contains(old) ? nil : old
          }
          let isNews = found.map { found in
            there[address, default: []].contains(found)
              && old.map { wins(found, over: $0) } ?? true
          }
          if found == old || isNews == true {
            minds[place].show(found, at: address)
            continue
          }
        }
        throw Divergence(
          description: "device \(place) has \(show(found)) at \(name(address)), not "
            + show(minds[place].shown[address]))
      }
      minds[place].look(at: facts, after: before[place].newest)
      try compareWaiting(place, facts, before[place], met)
    }
    if !met.isCut, !met.encounter.isOneWay { noteMet(met) }
    if met.isCut { for place in places { minds[place].known = before[place].known } }
    // What was written after the last reading nobody has read.
    if let entry = met.meanwhile {
      for place in places where !before[place].known.contains(entry) {
        if met.facts[place]?.shown[entry.address] != entry { minds[place].known.remove(entry) }
      }
    }
  }

  /// One of two devices whose exchanges with the hub overlapped may have come first, with
  /// deletions that the hub need not keep.
  private mutating func passOver(_ met: Met) {
    for place in met.encounter.places.dropFirst() {
      buried.formUnion(
        met.start[place].shown.values.filter {
          minds[0].shown[$0.address] == nil && Mind.isOldDeletion($0, at: met.clocks[0])
        })
    }
  }

  private mutating func join(_ met: Met) throws {
    let places = met.encounter.places
    let hub = hasHub ? met.facts[0] : nil
    func read(_ reader: Int, _ other: Int) {
      let mind = minds[other]
      minds[reader].read(
        mind, met.travels, at: met.clocks[reader], asOf: reader == 0 ? hub : nil,
        isTold: { other != 0 || hub == nil || mind.tells($0, at: met.clocks[0]) })
    }
    guard !met.encounter.isOneWay else {
      let last = places[places.count - 1]
      minds[last].promote(at: met.clocks[last])
      for other in places.dropLast() { read(last, other) }
      return
    }
    for place in places {
      let gone = minds[place].promote(at: met.clocks[place], asOf: place == 0 ? hub : nil)
      guard !gone.left.isEmpty || !gone.lost.isEmpty else { continue }
      // Of what was given up it is not known whether it was seen.
      let hasGivenUp = hasGivenUp(at: met.clocks[0])
      hasHeld = hasHeld || hasGivenUp
      guard hasGivenUp || gone.left.isEmpty else {
        throw Divergence(description: "the hub has given up \(gone.left.map(show))")
      }
    }
    // What one of them knows to be deleted is told to whoever has let it in meanwhile.
    for _ in 0..<3 {
      for other in places.dropFirst() { read(places[0], other) }
      for other in places.dropFirst() { read(other, places[0]) }
    }
  }

  /// Whether the hub need not wait for some device any more.
  private func hasGivenUp(at time: Int64) -> Bool {
    hasCopied || hasRetired || lastMet.values.contains { abs(time - $0) > 179 * Self.day }
  }

  /// What waits and will win has to be what ought to.
  private mutating func compareWaiting(
    _ place: Int, _ facts: Facts, _ before: Mind, _ met: Met
  ) throws {
    var found = minds[place]
    found.waiting = facts.held
    let real = found.promising
    let ideal = minds[place].promising
    guard real != ideal else {
      if hasHub, place == 0 { minds[place].waiting = facts.held }
      return
    }
    if hasHub, place == 0, Set(real.map(Oracle.Loss.init)) == Set(ideal.map(Oracle.Loss.init)) {
      // A hub compares no values.
      minds[place].waiting = facts.held
      return
    }
    // What was written meanwhile, or what it took the place of.
    let rivals = met.meanwhile.map { entry in
      [entry] + met.encounter.places.compactMap { met.start[$0].shown[entry.address] }
    }
    let mayWait = ideal.union(before.waiting).union(rivals ?? [])
    let isLoose = met.isCut || met.meanwhile != nil
    guard isLoose && real.isSubset(of: mayWait) else {
      throw Divergence(
        description: "device \(place) keeps \(real.map(show)) waiting, not \(ideal.map(show))")
    }
    minds[place].waiting = facts.held
  }

  /// An exchange is about the stores that it names, or else about those that a participant knew
  /// when it began: one that came up meanwhile has been exchanged with nobody yet.
  private mutating func noteMet(_ met: Met) {
    let places = met.encounter.places
    let start = Set(
      met.encounter.stores?.map { ByteText($0) }
        ?? places.flatMap { met.start[$0].stores } + [ByteText(StoreName.cloud)])
    let center = places[0]
    for other in places.dropFirst() {
      let addresses = [center, other].flatMap { met.facts[$0]?.shown.keys.map(\.store) ?? [] }
      for store in start.intersection(addresses)
      where met.travels(Address(store: store.string, key: "")) {
        minds[center].met[store, default: []].insert(other)
        minds[other].met[store, default: []].insert(center)
      }
    }
    for place in places where hasHub && places.contains(0) { lastMet[place] = met.clocks[0] }
  }
}
