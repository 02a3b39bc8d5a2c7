// SPDX-License-Identifier: Apache-2.0

import Synchronization

// What a container knows, and how a key finds it.
//
// - An entry is listed once in `entries`; under each of its keys it is a candidate of that type's group.
// - A group's candidates are in registration order; an alias counts as registered with its base.
// - Everything under `ObjectIdentifier(T.self)` is an `Entry<T>`: `add` is the only way in.

/// An entry whose type is not known here.
protocol AnyEntry: AnyObject, Sendable {
  var name: String? { get }
  var label: String { get }
  var scope: Container.Scope { get }
  var isPrimary: Bool { get }
  var order: Int { get }
  var needs: [Need] { get }
  /// The entry behind an alias.
  var base: (any AnyEntry)? { get }
  var isAsync: Bool { get }
  var status: String { get }
  func prepare(_ owner: Container) async throws
  /// The same registration with nothing made; itself when its value comes from outside.
  func renewed(over base: (any AnyEntry)?) -> any AnyEntry
}

extension AnyEntry {
  /// Two candidates with the same origin are one object under two keys.
  var origin: any AnyEntry { base ?? self }
}

private let orders = Atomic(0)

func nextOrder() -> Int { orders.add(1, ordering: .relaxed).newValue }

/// All registrations of one type.
final class Group: Sendable {
  let candidates: [any AnyEntry]
  /// What an unnamed key stands for, if that is clear.
  let single: (any AnyEntry)?
  /// What named keys stand for, where that is clear.
  let named: [String: any AnyEntry]

  init(_ candidates: [any AnyEntry]) {
    self.candidates = candidates
    let primaries = candidates.filter(\.isPrimary)
    let fitting = Group.distinct(primaries.isEmpty ? candidates : primaries)
    single = fitting.count == 1 ? fitting[0] : nil
    var named: [String: any AnyEntry] = [:], twice: Set<String> = []
    for entry in candidates {
      guard let name = entry.name else { continue }
      if named.updateValue(entry, forKey: name) != nil { twice.insert(name) }
    }
    self.named = named.filter { !twice.contains($0.key) }
  }

  /// Each object once, however many keys it has here.
  static func distinct(_ candidates: [any AnyEntry]) -> [any AnyEntry] {
    var seen: Set<ObjectIdentifier> = []
    return candidates.filter { seen.insert(ObjectIdentifier($0.origin)).inserted }
  }

  func adding(_ entry: any AnyEntry) -> Group {
    let index = candidates.firstIndex { $0.order > entry.order } ?? candidates.endIndex
    return Group(candidates[..<index] + [entry] + candidates[index...])
  }

  /// Nil: no registration fits.
  /// - Throws: `InjectionError` with `ambiguous` or `duplicate`.
  func entry(_ name: String?, _ label: String) throws(InjectionError) -> (any AnyEntry)? {
    guard let name else {
      if let single { return single }
      throw InjectionError(
        .ambiguous, label, candidates: candidates.map(\.origin.label),
        cure: "Make one of them `primary: true` or ask by name.")
    }
    if let entry = named[name] { return entry }
    if let duplicate = problems.first(where: { $0.key == label }) { throw duplicate }
    return nil
  }

  /// Names given twice, and more than one primary.
  var problems: [InjectionError] {
    let names = Dictionary(grouping: candidates.filter { $0.name != nil }, by: \.label)
    var problems = names.filter { $0.value.count > 1 }.sorted { $0.key < $1.key }.map {
      InjectionError(
        .duplicate, $0.key, candidates: $0.value.map(\.origin.label),
        cure: "Give each its own name.")
    }
    let primaries = Group.distinct(candidates.filter(\.isPrimary))
    if primaries.count > 1 {
      problems.append(
        InjectionError(
          .ambiguous, primaries[0].label, candidates: primaries.map(\.origin.label),
          cure: "Leave `primary: true` to one of them."))
    }
    return problems
  }
}

/// The registrations of one container.
struct Ledger {
  private(set) var groups: [ObjectIdentifier: Group] = [:]
  private(set) var entries: [any AnyEntry] = []
  /// Default recipes of keys, used when nothing is registered.
  private var defaults: [ObjectIdentifier: [String?: any AnyEntry]] = [:]

  mutating func add<T>(_ entry: Entry<T>) {
    if entry.base == nil { entries.append(entry) }
    let id = ObjectIdentifier(T.self)
    groups[id] = groups[id]?.adding(entry) ?? Group([entry])
  }

  /// Puts `new` where an alias or a transient recipe was.
  mutating func replace<T>(_ old: Entry<T>, by new: Entry<T>) {
    if old.base == nil { entries.removeAll { $0 === old } }
    entries.append(new)
    let id = ObjectIdentifier(T.self)
    groups[id] = groups[id].map { Group($0.candidates.map { $0 === old ? new : $0 }) }
  }

  mutating func adopt<T>(
    _ key: Container.Key<T>, _ make: @escaping @Sendable (Container) throws -> sending T
  ) -> Entry<T> {
    let id = ObjectIdentifier(T.self)
    // Sound: only this line fills the table, and with an Entry<T> for T.
    if let known = defaults[id]?[key.name] { return unsafeDowncast(known, to: Entry<T>.self) }
    let entry = Entry(key, .now(make), scope: key.scope)
    defaults[id, default: [:]][key.name] = entry
    return entry
  }

  /// The same registrations with nothing made, except what was set from outside.
  func renewed() -> Ledger {
    var renewed: [ObjectIdentifier: any AnyEntry] = [:]
    func renew(_ entry: any AnyEntry) -> any AnyEntry {
      if let known = renewed[ObjectIdentifier(entry)] { return known }
      let new = entry.renewed(over: entry.base.map(renew))
      renewed[ObjectIdentifier(entry)] = new
      return new
    }
    var ledger = Ledger()
    ledger.entries = entries.map(renew)
    ledger.groups = groups.mapValues { Group($0.candidates.map(renew)) }
    return ledger
  }
}
