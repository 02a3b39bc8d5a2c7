// SPDX-License-Identifier: Apache-2.0
//
// What happens with a hub.

import KeepsakeValues

extension Maker {
  mutating func hubMeeting(_ place: Int) -> Step {
    var encounter = Encounter([place, 0])
    if one(in: 8) { encounter.stores = [pick(Array(Self.stores.prefix(4)))] }
    switch Int.random(in: 0..<10, using: &chance) {
    case 0: encounter.crash = .random(in: 0..<12, using: &chance)
    case 1, 2:
      encounter.fault = Encounter.Fault(
        kind: pick(Encounter.Fault.Kind.allCases), number: .random(in: 0..<8, using: &chance))
    case 3:
      let isCopy = theme != .collection && theme != .future && one(in: 3)
      encounter.during = Encounter.During(
        after: .random(in: 0..<7, using: &chance),
        step: isCopy ? save(pick([0, place])) : write(by: place))
    case 4, 5:
      guard let guest = devices.filter({ $0 != place }).randomElement(using: &chance) else { break }
      encounter.during = Encounter.During(
        after: .random(in: 0..<7, using: &chance), step: .meet(Encounter([guest, 0])))
    default: break
    }
    return .meet(encounter)
  }

  mutating func skewHub() -> Step {
    let minutes: Int64 = pick([-600, -6, -1, 1, 6, theme == .collection ? 1 : 600])
    return .skew(0, milliseconds: minutes * Self.minute)
  }

  /// A write by a clock that is ahead waits at the hub, and others write that key meanwhile.
  mutating func hubFuture() -> [Step] {
    let places = devices.shuffled(using: &chance)
    let (fast, other, third) = (places[0], places[1 % places.count], places[2 % places.count])
    let address = Address(store: "cloud", key: pick(Self.keys))
    let ahead = pick([6, 9, 20]) * Self.minute
    func meeting(_ place: Int, _ maker: inout Maker) -> Step {
      maker.one(in: 3) ? maker.hubMeeting(place) : .meet(Encounter([place, 0]))
    }
    func write(by place: Int, _ maker: inout Maker) -> Step {
      .write(place, address, maker.one(in: 3) ? nil : maker.pick(Self.values))
    }
    var steps: [Step] = []
    if one(in: 3) { steps += [write(by: other, &self), .meet(Encounter([other, pick([0, fast])]))] }
    steps += [.skew(fast, milliseconds: ahead), write(by: fast, &self)]
    if one(in: 3) { steps.append(self.write(by: fast)) }
    if third != fast, one(in: 4) { steps.append(.meet(Encounter([third, fast]))) }
    steps.append(meeting(fast, &self))
    if one(in: 2) { steps.append(.skew(fast, milliseconds: -ahead)) }
    for place in [other, third] where place != fast && !one(in: 4) {
      if one(in: 3) { steps.append(meeting(place, &self)) }
      steps += [.pass(milliseconds: 20), write(by: place, &self), meeting(place, &self)]
    }
    if one(in: 3) { steps.append(meeting(fast, &self)) }
    steps.append(.pass(milliseconds: ahead - pick([5, 3, -20]) * Self.minute))
    if one(in: 8) { steps.append(.retire(0, fast)) }
    for place in places.shuffled(using: &chance).prefix(3) {
      if one(in: 3) { steps.append(write(by: place, &self)) }
      steps.append(meeting(place, &self))
    }
    return steps
  }

  /// A write that others have deleted comes to a hub that has forgotten that: those who know of
  /// the deletion have to delete it again.
  mutating func hubComeback() -> [Step] {
    let places = devices.shuffled(using: &chance)
    let (old, deleter, third) = (places[0], places[1 % places.count], places[2 % places.count])
    let address = Address(store: "cloud", key: pick(Self.keys))
    var steps: [Step] = [.write(old, address, pick(Self.values)), .meet(Encounter([old, 0]))]
    steps += [.meet(Encounter([deleter, 0])), .pass(milliseconds: 20)]
    if one(in: 2) { steps.append(.meet(Encounter([third, 0]))) }
    steps += [.write(deleter, address, nil), .meet(Encounter([deleter, 0]))]
    if one(in: 3) { steps.append(.retire(0, one(in: 2) ? old : third)) }
    for _ in 0..<2 {
      steps.append(.pass(milliseconds: .random(in: 1...200, using: &chance) * Self.day))
      if one(in: 3) { steps.append(.write(old, address, pick(Self.values))) }
      if one(in: 3) { steps.append(hubMeeting(third)) }
      steps.append(.meet(Encounter([deleter, 0])))
      if one(in: 3) { steps.append(.compact(deleter)) }
    }
    return steps + [old, deleter, third].filter { _ in !one(in: 3) }.map { hubMeeting($0) }
  }
}
