// SPDX-License-Identifier: Apache-2.0
//
// Random histories. Few keys and few values, so that every tie happens; few milliseconds between
// steps, so that clocks agree and disagree.

import Foundation
import KeepsakeTesting
import KeepsakeValues

extension History {
  /// The same history for the same seed.
  ///
  /// - Parameter hasHub: whether the devices meet a hub most of the time.
  package init(seed: UInt64, storage: Storage, hasHub: Bool = false) {
    var maker = Maker(seed: seed)
    maker.hasHub = hasHub
    self = maker.history(seed: seed, storage: storage)
  }
}

struct Maker {
  /// What is left out, so that more can be said of what is left.
  enum Theme: CaseIterable {
    /// Copies and clocks from the future; nothing is collected.
    case copies
    /// Tombstones are collected; nobody is copied.
    case collection
    case everything
    /// Clocks from the future, and a hub; nobody is copied, and no deletion gets old.
    case future
  }

  static let stores = ["cloud", "cloud", "cloud:\u{E9}", "cloud:e\u{301}", "defaults"]
  static let keys = ["a", "b", "\u{E9}", "e\u{301}"]
  static let values: [StoredValue] = [
    1, 2, "", "1", "\u{E9}", "e\u{301}", .real(1), .data(Data([1])), .data(Data()),
  ]
  static let minute: Int64 = 60_000
  static let day: Int64 = 86_400_000

  var chance: SeededGenerator
  var hasHub = false
  var count = 0
  /// Places of devices.
  var devices: Range<Int> { (hasHub ? 1 : 0)..<count }
  var theme = Theme.copies
  var saved: [(number: Int, isHub: Bool)] = []
  /// Who stays away until late, if anybody does.
  var away: Int?

  init(seed: UInt64) {
    chance = SeededGenerator(seed: seed)
  }

  mutating func history(seed: UInt64, storage: History.Storage) -> History {
    theme = pick([.copies, .copies, .collection, .collection, .everything])
    if hasHub, seed % 4 == 0 { theme = .future }
    count = pick([2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 6, 7])
    if hasHub { count += 1 }
    if devices.count > 2, one(in: 3) { away = place() }
    var history = History(
      seed: seed, count: count, chunkSize: pick([1, 3, 1000]), storage: storage, hasHub: hasHub,
      steps: [])
    if hasHub, theme != .collection, theme != .future, one(in: 2) { history.steps.append(save(0)) }
    for place in 0..<count where one(in: 2) {
      history.steps.append(
        .skew(place, milliseconds: .random(in: -Self.minute...Self.minute, using: &chance)))
    }
    let length = Int.random(in: 8...24, using: &chance)
    for number in 0..<length {
      if number == length * 3 / 4 { away = nil }
      if one(in: 3) { history.steps.append(.pass(milliseconds: pick([1, 20, 3_000, 100_000]))) }
      history.steps += steps()
    }
    return history
  }

  private mutating func steps() -> [Step] {
    switch Int.random(in: 0..<100, using: &chance) {
    case 0..<48: return [write()]
    case 48..<76: return exchanges()
    case 76..<84: return hasHub && one(in: 4) ? [skewHub()] : clock()
    case 84..<86: return [.reopen(place())]
    default: break
    }
    if theme == .future { return hubFuture() }
    if one(in: 3) { return shape() }
    let collects = theme == .collection || theme == .everything && one(in: 2)
    return collects ? collection() : copy()
  }

  /// Steps that seldom follow each other by chance.
  private mutating func shape() -> [Step] {
    switch theme {
    case .copies: cutFirstMerge()
    case .collection where hasHub && one(in: 2): hubComeback()
    case .collection: one(in: 2) ? cutFirstMerge() : comeback(byCopy: false)
    case .everything: one(in: 2) ? comeback(byCopy: true) : lateDeletion()
    case .future: hubFuture()
    }
  }

  mutating func write(by place: Int? = nil) -> Step {
    let address = Address(store: pick(Self.stores), key: pick(Self.keys))
    return .write(place ?? self.place(), address, one(in: 3) ? nil : pick(Self.values))
  }

  private mutating func exchanges() -> [Step] {
    let present = devices.filter { $0 != away }.shuffled(using: &chance)
    if hasHub, !one(in: 4) {
      return present.prefix(one(in: 3) ? 2 : 1).map { hubMeeting($0) }
    }
    switch Int.random(in: 0..<20, using: &chance) {
    case 0..<2: return [.meet(details(present))]
    case 2:  // A line, along which news travel.
      return zip(present, present.dropFirst()).prefix(3).map { .meet(Encounter([$0, $1])) }
    case 3:  // A star of a few.
      return [.meet(details(Array(present.prefix(3))))]
    case 4:
      let encounter = details(Array(present.prefix(2)))
      return [.meet(encounter), .meet(encounter)]
    default: return [.meet(details(Array(present.prefix(2))))]
    }
  }

  private mutating func details(_ places: [Int]) -> Encounter {
    var encounter = Encounter(places)
    encounter.isOneWay = one(in: 8)
    if one(in: 8) { encounter.stores = [pick(Array(Self.stores.prefix(4)))] }
    switch Int.random(in: 0..<10, using: &chance) {
    case 0, 1: encounter.crash = .random(in: 0..<30, using: &chance)
    case 2:
      let place = pick(places)
      let isCopy = theme != .collection && theme != .future && one(in: 2)
      encounter.during = Encounter.During(
        after: .random(in: 0..<3, using: &chance), step: isCopy ? save(place) : write(by: place))
    default: break
    }
    return encounter
  }

  private mutating func clock() -> [Step] {
    let place = place()
    let jump = Int64.random(in: -2 * Self.minute...2 * Self.minute, using: &chance)
    switch Int.random(in: 0..<8, using: &chance) {
    case 0: return [.freeze(place), write(by: place), write(by: place)]
    case 1: return [.thaw(place)]
    case 2...3 where theme != .collection:  // Far ahead, for a while.
      let far = pick([6, 20, 600, theme == .future ? 9 : 60 * 24 * 400]) * Self.minute
      return [.skew(place, milliseconds: far), write(by: place), write(by: place)]
        + (one(in: 2) ? [.skew(place, milliseconds: -far)] : [])
    case 4 where theme != .collection:
      return [.pass(milliseconds: pick([10, 30, 700]) * Self.minute)]
    default: return [.skew(place, milliseconds: jump)]
    }
  }

  mutating func save(_ place: Int) -> Step {
    let number = saved.count
    saved.append((number, hasHub && place == 0))
    return .save(place, as: number)
  }

  private mutating func copy() -> [Step] {
    let places = devices.shuffled(using: &chance)
    if let saved = saved.randomElement(using: &chance), one(in: 2) {
      return [.restore(saved.isHub ? 0 : places[0], from: saved.number)]
    }
    if hasHub, one(in: 4) { return [save(0)] }
    switch Int.random(in: 0..<3, using: &chance) {
    case 0: return [save(places[0])]
    case 1: return [.copy(places[0], over: places[1])]
    default: return twins(places[0], places[1])
    }
  }

  /// Two copies of one file give one timestamp to two values: both were told of a time to come.
  private mutating func twins(_ place: Int, _ other: Int) -> [Step] {
    let address = Address(store: pick(Self.stores), key: pick(Self.keys))
    return [
      .skew(place, milliseconds: 2 * Self.minute), write(by: place),
      .skew(place, milliseconds: -2 * Self.minute), .copy(place, over: other),
      .write(place, address, pick(Self.values)), .write(other, address, pick(Self.values)),
    ]
  }

  /// Two devices, which may never have met, are cut off at one transaction after the other.
  private mutating func cutFirstMerge() -> [Step] {
    let places = Array(devices.shuffled(using: &chance).prefix(2))
    var encounter = Encounter(places)
    encounter.isOneWay = one(in: 6)
    var steps = (0..<6).map { write(by: places[$0 % 2]) }
    for crash in [pick([2, 4, 6]), pick([3, 5, 8])] {
      encounter.crash = crash
      steps.append(.meet(encounter))
      if one(in: 2) { steps += [.pass(milliseconds: 20), write(by: pick(places))] }
    }
    encounter.crash = nil
    return steps + [.meet(encounter)]
  }

  /// A write that others have deleted, and collected, is there again: on one that was away, or in
  /// a file that was restored or copied. A third may know it too.
  private mutating func comeback(byCopy: Bool) -> [Step] {
    let places = devices.shuffled(using: &chance)
    let (old, deleter, third) = (places[0], places[1], places[2 % places.count])
    let address = Address(store: "cloud", key: pick(Self.keys))
    var steps: [Step] = [.write(old, address, pick(Self.values))]
    if one(in: 2), third != old { steps.append(.meet(Encounter([old, third]))) }
    if byCopy { steps.append(save(old)) }
    let number = saved.count - 1
    steps += [.meet(Encounter([old, deleter])), .pass(milliseconds: 20)]
    steps.append(.write(deleter, address, nil))
    if byCopy || one(in: 2) { steps.append(.meet(Encounter([old, deleter]))) }
    steps.append(.pass(milliseconds: 91 * Self.day))
    for place in Set([old, third]).subtracting([deleter]).sorted() where one(in: 2) {
      steps.append(.retire(deleter, place))
    }
    steps.append(.compact(deleter))
    if byCopy {
      steps += [.compact(old), .restore(one(in: 3) ? third : old, from: number)]
      if one(in: 2) { steps.append(write(by: old)) }
    }
    let pairs = [[old, deleter], [deleter, third], [old, third]].filter { Set($0).count == 2 }
    return steps + pairs.shuffled(using: &chance).map { .meet(Encounter($0)) }
  }

  /// A deletion by a clock that is ahead, which others collect when that time has come.
  private mutating func lateDeletion() -> [Step] {
    let places = devices.shuffled(using: &chance)
    let (fast, other) = (places[0], places[1])
    let address = Address(store: "cloud", key: pick(Self.keys))
    let ahead = pick([4 * Self.minute, 10 * Self.minute, 30 * Self.day])
    return [
      .write(other, address, pick(Self.values)), .meet(Encounter([fast, other])),
      .skew(fast, milliseconds: ahead), .write(fast, address, nil),
      .skew(fast, milliseconds: -ahead), .meet(Encounter([fast, other])),
      .write(other, address, pick(Self.values)),
      .pass(milliseconds: pick([91, 122]) * Self.day), .compact(pick([fast, other])),
      .meet(Encounter([fast, other])), .compact(pick([fast, other])),
      .meet(Encounter(places.filter { one(in: 2) || $0 == places[0] || $0 == places[1] })),
    ]
  }

  private mutating func collection() -> [Step] {
    let places = devices.shuffled(using: &chance)
    let days = pick([1, 30, 91, 91, 91, 100, 181]) * Self.day
    switch Int.random(in: 0..<6, using: &chance) {
    case 0: return [.retire(hasHub && one(in: 2) ? 0 : places[0], places[1])]
    case 1: return [.pass(milliseconds: days)] + (hasHub ? [hubMeeting(places[0])] : [])
    case 2: return [.compact(places[0])]
    case 3:
      return [.pass(milliseconds: days), .retire(places[0], places[1]), .compact(places[0])]
    default: return [.pass(milliseconds: days), .compact(places[0]), .compact(places[1])]
    }
  }

  mutating func place() -> Int { .random(in: devices, using: &chance) }

  mutating func one(in number: Int) -> Bool {
    Int.random(in: 0..<number, using: &chance) == 0
  }

  mutating func pick<Value>(_ values: [Value]) -> Value {
    values[Int.random(in: 0..<values.count, using: &chance)]
  }
}
