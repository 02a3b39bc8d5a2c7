// SPDX-License-Identifier: Apache-2.0

import HubSupport
import KeepsakeDevice
import KeepsakeHubServer
import KeepsakeSync
package import KeepsakeValues

/// A history that did not go as it ought to.
package struct Failure: Error, CustomStringConvertible {
  /// Number of the step, from 0; nil when all were made, and the devices then did not settle.
  package let step: Int?
  package let what: String

  package var description: String {
    (step.map { "step \($0 + 1): " } ?? "at the end: ") + what
  }
}

extension History {
  /// Plays it, with an oracle beside it, and lets the devices settle.
  ///
  /// - Parameter makeHub: makes the hub, if it has one.
  package func play(
    on makeHub: (ReplicaID) throws -> any PlayedHub = { MemoryHub($0) }
  ) throws(Failure) {
    var step: Int?
    do {
      let game = try Game(self, makeHub)
      for (number, next) in steps.enumerated() {
        step = number
        try game.take(next)
      }
      step = nil
      try game.settle()
    } catch {
      throw Failure(step: step, what: "\(error)")
    }
  }
}

private final class Game {
  private let world: World
  private var oracle: Oracle
  private let chunkSize: Int
  private var saved: [Int: (image: World.Image, mind: Mind, isFromExchange: Bool)] = [:]
  private var frozen: Set<Int> = []
  /// What everybody had when an exchange began of which a request has not come yet.
  private var lateStart: [Mind]?
  /// The exchange of the step before.
  private var last: Encounter?

  init(_ history: History, _ makeHub: HubMaker) throws {
    world = try World(history, makeHub)
    oracle = Oracle(count: history.count, hasHub: history.hasHub)
    chunkSize = history.chunkSize
  }

  func take(_ step: Step) throws {
    let before = last
    last = nil
    switch step {
    case .write(let place, let address, let value): try write(place, address, value)
    case .meet(let encounter): try meet(encounter, isRepeated: encounter == before)
    case .pass(let milliseconds):
      for place in world.clocks.indices where !frozen.contains(place) {
        world.clocks[place].milliseconds += milliseconds
      }
    case .skew(let place, let milliseconds): world.clocks[place].milliseconds += milliseconds
    case .freeze(let place): frozen.insert(place)
    case .thaw(let place): frozen.remove(place)
    case .save(let place, let number):
      saved[number] = (try world.image(of: place), oracle.minds[place], false)
    case .restore(let place, let number): try restore(place, number)
    case .copy(let place, let other):
      try world.copy(place, over: other)
      oracle.replaced(other, by: oracle.minds[place])
      try check(other)
    case .compact(let place): try compact(place)
    case .retire(let place, let other):
      try world.retire(other, at: place)
      oracle.retired(place, other)
    case .reopen(let place):
      try world.reopen(place)
      try check(place)
    }
  }

  private func write(_ place: Int, _ address: Address, _ value: StoredValue?) throws {
    try world[place].write([
      LocalWrite(store: address.store.string, key: address.key.string, value: value)
    ])
    try oracle.wrote(
      place, address, value, world.facts(place), at: world.clocks[place].milliseconds)
  }

  /// A device that nobody has met has what it had.
  private func check(_ place: Int) throws {
    let facts = try world.facts(place)
    guard facts.shown == oracle.minds[place].shown else {
      throw Divergence(description: "device \(place) has not what it had: \(facts.shown)")
    }
  }

  private func restore(_ place: Int, _ number: Int) throws {
    guard let (image, mind, isFromExchange) = saved[number] else { return }
    try world.put(image, at: place)
    var restored = mind
    if isFromExchange {
      // It knows some of what the exchange was to bring.
      let facts = try world.facts(place)
      for (address, entry) in facts.shown { restored.show(entry, at: address) }
      restored.look(at: facts, after: mind.newest)
      restored.waiting = facts.held
    }
    oracle.replaced(place, by: restored)
    try check(place)
  }

  private func compact(_ place: Int) throws {
    let before = try world.facts(place)
    let result = try world[place].compact()
    let ids = try world.clocks.indices.map { try world.id(of: $0) }
    for (other, id) in ids.enumerated() where result.retired.contains(id) {
      oracle.retired(place, other)
    }
    try oracle.compacted(
      place, before, world.facts(place), at: world.clocks[place].milliseconds)
  }

  // MARK: - Exchanges

  @discardableResult
  private func meet(_ encounter: Encounter, isRepeated: Bool) throws -> MergeReport? {
    let report = try exchange(encounter, isRepeated: isRepeated)
    let isWithHub = encounter.places.contains(where: world.isHub)
    if isWithHub, encounter.fault?.kind != .late { try deliverLate() }
    return report
  }

  private func exchange(_ encounter: Encounter, isRepeated: Bool) throws -> MergeReport? {
    let start = oracle.minds
    if encounter.fault?.kind == .late { lateStart = start }
    let interlude = encounter.during.map { Interlude($0, in: self) }
    let report = try world.meet(encounter, chunkSize: chunkSize) { interlude?.progress() }
    if let error = interlude?.failure { throw error }
    // Who meets the hub in the middle may learn of one part and not of another, and tell so.
    var all = encounter
    let guest = interlude?.guest
    if let guest { (all.places, all.stores) = ([0, encounter.places[0], guest], nil) }
    var facts: [Int: Facts] = [:]
    for place in all.places { facts[place] = try world.facts(place) }
    let met = Oracle.Met(
      encounter: all, clocks: world.clocks.map(\.milliseconds), facts: facts,
      isCut: report == nil || guest != nil, start: start, meanwhile: interlude?.entry)
    try oracle.met(met)
    guard let report, interlude?.entry == nil, guest == nil, !encounter.isOneWay else {
      return report
    }
    // Whether what is no longer due has lost a hub does not look, whose clock has gone back.
    let mayWait = world.isHub(0) && facts[0]?.held.isEmpty == false
    let isApart = facts.values.contains(where: \.waits)
    guard report.hasConverged == !isApart || !report.hasConverged && mayWait else {
      throw Divergence(description: "it says that it has converged: \(report.hasConverged)")
    }
    try oracle.compareConflicts(met, Set(report.conflicts.map(\.conflict).map(Oracle.Loss.init)))
    if isRepeated, !report.isQuiet {
      throw Divergence(description: "again, and something was read: \(report.transfers)")
    }
    last = encounter
    return report
  }

  /// What came too late counts as an exchange that was cut off where it left.
  private func deliverLate() throws {
    guard let start = lateStart, let place = try world.deliverLate() else { return }
    lateStart = nil
    let encounter = Encounter([place, 0])
    try oracle.met(
      Oracle.Met(
        encounter: encounter, clocks: world.clocks.map(\.milliseconds),
        facts: [place: world.facts(place), 0: world.facts(0)], isCut: true, start: start,
        meanwhile: nil))
  }

  /// What happens in the middle of an exchange.
  fileprivate func interrupt(with step: Step) throws -> Entry? {
    switch step {
    case .write(let place, let address, let value):
      try world[place].write([
        LocalWrite(store: address.store.string, key: address.key.string, value: value)
      ])
      let facts = try world.facts(place)
      try oracle.wrote(
        place, address, value, facts, at: world.clocks[place].milliseconds, isDuringExchange: true)
      return StoreName.isSynced(address.store.string) ? facts.shown[address] : nil
    case .save(let place, let number):
      saved[number] = (try world.image(of: place), oracle.minds[place], true)
      return nil
    case .meet(let encounter):
      _ = try world.meet(encounter, chunkSize: chunkSize)
      return nil
    default: throw ScriptError(description: "not in the middle of an exchange: \(step)")
    }
  }

  /// Everybody meets until nobody can learn more, at a time when nothing has to wait.
  func settle() throws {
    let timestamps = oracle.minds.flatMap {
      $0.shown.values.map(\.timestamp) + $0.waiting.map(\.timestamp)
    }
    let latest = (timestamps.map(\.milliseconds) + world.clocks.map(\.milliseconds)).max() ?? 0
    for clock in world.clocks { clock.milliseconds = latest + 1000 }
    let places = Array(world.clocks.indices)
    let everybody =
      world.isHub(0)
      ? places.dropFirst().map { Encounter([$0, 0]) } : [Encounter(places)]
    var isQuiet = false
    for round in 0..<10 where !isQuiet {
      isQuiet = true
      for encounter in everybody {
        let report = try meet(encounter, isRepeated: round > 0 && everybody.count == 1)
        isQuiet = isQuiet && report?.isQuiet == true
      }
    }
    guard isQuiet else { throw Divergence(description: "there is always something to read") }
    try oracle.compareLosses(Set(places.flatMap { try world.losses($0) }))
    let first = try world.facts(0)
    guard !world.isHub(0) || oracle.hasCopied || !first.waits else {
      throw Divergence(description: "the hub still keeps \(first.held) waiting")
    }
    for place in world.clocks.indices.dropFirst() {
      let other = try world.facts(place)
      let addresses = Set(first.shown.keys).union(other.shown.keys)
      for address in addresses where StoreName.isSynced(address.store.string) {
        let (a, b) = (first.shown[address], other.shown[address])
        guard a != b, a?.content.value != nil || b?.content.value != nil else { continue }
        throw Divergence(
          description: "device 0 has \(show(a)) at \(name(address)), and \(place) has \(show(b))")
      }
    }
    for place in places where !world.isHub(place) { try world[place].checkIntegrity() }
  }
}

extension MergeReport {
  fileprivate var isQuiet: Bool {
    events.allSatisfy(\.isLasting)
      && transfers.allSatisfy { $0.received == 0 && $0.changed == 0 }
  }
}

/// Does something when the exchange has read for the n-th time.
// Sendable: merges report their progress on the thread of the game.
private final class Interlude: @unchecked Sendable {
  private let during: Encounter.During
  private let game: Game
  private var readings = 0
  private(set) var entry: Entry?
  /// Who has met the hub.
  private(set) var guest: Int?
  private(set) var failure: (any Error)?

  init(_ during: Encounter.During, in game: Game) {
    self.during = during
    self.game = game
  }

  func progress() {
    defer { readings += 1 }
    guard readings == during.after else { return }
    do {
      entry = try game.interrupt(with: during.step)
      if case .meet(let encounter) = during.step { guest = encounter.places[0] }
    } catch {
      failure = error
    }
  }
}
