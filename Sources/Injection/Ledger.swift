// SPDX-License-Identifier: Apache-2.0

// What a container knows, and how a key finds it.
//
// - An entry is once in `entries`; under each of its keys it is a candidate of that type's group.
// - A group's candidates are in registration order; an alias counts as registered with its base.
// - What is filed under a type makes boxes of that type, see Box.

extension Entry {
  /// Two candidates with the same origin are one object under two keys.
  var origin: Entry { base ?? self }
}

/// All registrations of one type.
final class Group: Sendable {
  let candidates: [Entry]
  /// What an unnamed key stands for, if that is clear.
  let single: Entry?
  /// What named keys stand for, where that is clear.
  let named: [String: Entry]

  init(_ candidates: [Entry]) {
    self.candidates = candidates
    let primaries = candidates.filter(\.isPrimary)
    let fitting = Group.distinct(primaries.isEmpty ? candidates : primaries)
    single = fitting.count == 1 ? fitting[0] : nil
    var named: [String: Entry] = [:], twice: Set<String> = []
    for entry in candidates {
      guard let name = entry.target.name else { continue }
      if named.updateValue(entry, forKey: name) != nil { twice.insert(name) }
    }
    self.named = named.filter { !twice.contains($0.key) }
  }

  /// Each object once, however many keys it has here.
  static func distinct(_ candidates: [Entry]) -> [Entry] {
    var seen: Set<ObjectIdentifier> = []
    return candidates.filter { seen.insert(ObjectIdentifier($0.origin)).inserted }
  }

  func adding(_ entry: Entry) -> Group {
    let index = candidates.firstIndex { $0.order > entry.order } ?? candidates.endIndex
    return Group(candidates[..<index] + [entry] + candidates[index...])
  }

  /// Nil: no registration fits.
  /// - Throws: `InjectionError` with `ambiguous` or `duplicate`.
  func entry(_ target: Target) throws(InjectionError) -> Entry? {
    guard let name = target.name else {
      if let single { return single }
      throw InjectionError(
        .ambiguous, target, candidates: candidates.map(\.origin.label),
        cure: "Make one of them `primary: true` or ask by name.")
    }
    if let entry = named[name] { return entry }
    let label = target.label
    if let duplicate = problems.first(where: { $0.key == label }) { throw duplicate }
    return nil
  }

  /// Names given twice, and more than one primary.
  var problems: [InjectionError] {
    let names = Dictionary(grouping: candidates.filter { $0.target.name != nil }, by: \.label)
    var problems = names.filter { $0.value.count > 1 }.sorted { $0.key < $1.key }.map {
      InjectionError(
        .duplicate, $0.value[0].target, candidates: $0.value.map(\.origin.label),
        cure: "Give each its own name.")
    }
    let primaries = Group.distinct(candidates.filter(\.isPrimary))
    if primaries.count > 1 {
      problems.append(
        InjectionError(
          .ambiguous, primaries[0].target, candidates: primaries.map(\.origin.label),
          cure: "Leave `primary: true` to one of them."))
    }
    return problems
  }
}

/// The registrations of one container.
struct Ledger: Sendable {
  private(set) var groups: [ObjectIdentifier: Group] = [:]
  private(set) var entries: [Entry] = []
  /// Default recipes of keys, used when nothing is registered.
  private var defaults: [ObjectIdentifier: [String?: Entry]] = [:]

  mutating func add(_ entry: Entry) {
    if entry.base == nil { entries.append(entry) }
    groups[entry.target.id] = groups[entry.target.id]?.adding(entry) ?? Group([entry])
  }

  /// Puts `new` where an alias or a transient recipe was.
  mutating func replace(_ old: Entry, by new: Entry) {
    if old.base == nil { entries.removeAll { $0 === old } }
    entries.append(new)
    let candidates = groups[new.target.id]?.candidates ?? []
    groups[new.target.id] = Group(candidates.map { $0 === old ? new : $0 })
  }

  mutating func adopt(_ target: Target, _ makeEntry: () -> Entry) -> Entry {
    if let known = defaults[target.id]?[target.name] { return known }
    let entry = makeEntry()
    defaults[target.id, default: [:]][target.name] = entry
    return entry
  }

  /// The same registrations with nothing made, except what was set from outside.
  func renewed() -> Ledger {
    var renewed: [ObjectIdentifier: Entry] = [:]
    func renew(_ entry: Entry) -> Entry {
      if let known = renewed[ObjectIdentifier(entry)] { return known }
      let new = entry.renewed(renew)
      renewed[ObjectIdentifier(entry)] = new
      return new
    }
    var ledger = Ledger()
    ledger.entries = entries.map(renew)
    ledger.groups = groups.mapValues { Group($0.candidates.map(renew)) }
    return ledger
  }
}

/// What lookups need of a ledger, unchanging.
final class Table: Sendable {
  let groups: [ObjectIdentifier: Group]
  private let singles: [ObjectIdentifier: Entry]

  init(_ groups: [ObjectIdentifier: Group]) {
    (self.groups, singles) = (groups, groups.compactMapValues(\.single))
  }

  /// What a key stands for, if that is clear.
  func entry(_ target: Target) -> Entry? {
    guard let name = target.name else { return singles[target.id] }
    return groups[target.id]?.named[name]
  }
}
