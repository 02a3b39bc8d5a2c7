// SPDX-License-Identifier: Apache-2.0

import Synchronization

// Threading: every method may be called from anywhere. The lock is held for looking up and for
// changing registrations only, never while a factory or a deinit runs.

/// Knows how objects are made and keeps those that are shared.
///
/// Register recipes first, then ask: `let api = try container.get(Container.Key<any API>())`.
/// Nothing starts by itself: singletons are made when first asked for, or all of them by `start()`.
public final class Container: Sendable {
  /// The container for programs that need only one.
  public static let main = Container()

  /// The container that makes the current object, or that an override put in force; else `main`.
  public static var current: Container { Frame.current?.container ?? main }

  let parent: Container?
  /// The renewed part of a fresh child. What it makes, it makes in the child, where overrides hold.
  let isBackdrop: Bool
  let gate: Gate
  private let ledger: Mutex<Ledger>
  /// The groups as last read; withdrawn when they change.
  private let table = Published<Table>(limit: 64)

  /// A container filled by `modules`, functions that register what belongs together.
  public convenience init(_ modules: (Container) -> Void...) {
    self.init(parent: nil, gate: Gate())
    modules.forEach { $0(self) }
  }

  init(parent: Container?, gate: Gate, backdrop ledger: Ledger? = nil) {
    (self.parent, self.gate, isBackdrop) = (parent, gate, ledger != nil)
    self.ledger = Mutex(ledger ?? Ledger())
  }
}

// MARK: - Finding a registration

extension Container {
  typealias Found = (entry: Entry, owner: Container)

  /// The nearest container with a candidate decides; a default recipe comes last, in the outermost.
  func locate(_ target: Target) throws(InjectionError) -> Found? {
    var (container, owner) = (self, self)
    while true {
      if let entry = try container.own(target) { return (entry, owner) }
      guard let parent = container.parent else { break }
      container = parent
      if !container.isBackdrop { owner = container }
    }
    guard let fallback = target.fallback else { return nil }
    return (container.ledger.withLock { $0.adopt(target, fallback) }, owner)
  }

  /// This container and those it belongs to, the nearest first, and where each makes its objects.
  var lineage: [(container: Container, owner: Container)] {
    var lineage = [(container: self, owner: self)]
    while let last = lineage.last, let parent = last.container.parent {
      lineage.append((parent, parent.isBackdrop ? last.owner : parent))
    }
    return lineage
  }

  private func own(_ target: Target) throws(InjectionError) -> Entry? {
    if let entry = evident(target) { return entry }
    return try group(target)?.entry(target)
  }

  /// What most lookups find: a clear answer of this container, since the last change.
  func evident(_ target: Target) -> Entry? { table.read { $0.entry(target) } }

  func group(_ target: Target) -> Group? {
    if let table = table.value { return table.groups[target.id] }
    return ledger.withLock { ledger in
      table.publish(Table(ledger.groups))
      return ledger.groups[target.id]
    }
  }

  /// Changes the registrations. Whoever looks up next sees it.
  func change<R: Sendable>(_ body: (inout Ledger) throws -> R) rethrows -> R {
    try ledger.withLock { ledger in
      defer { table.withdraw() }
      return try body(&ledger)
    }
  }

  var registrations: Ledger { ledger.withLock { $0 } }
}

// MARK: - Description

extension Container: CustomStringConvertible {
  /// One line for each registration: its keys, its scope, and whether it is made.
  public var description: String {
    let registrations = registrations
    let aliases = registrations.groups.values.flatMap(\.candidates).filter { $0.base != nil }
    let lines = registrations.entries.map { entry in
      let others = aliases.filter { $0.base === entry }.map(\.label).sorted()
      return ([entry.label] + others).joined(separator: ", ") + ": " + entry.status
    }
    let own = lines.isEmpty ? "nothing registered" : lines.joined(separator: "\n")
    return own + (parent.map { "\nparent:\n\($0)" } ?? "")
  }
}
