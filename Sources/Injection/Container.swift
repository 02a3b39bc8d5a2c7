// SPDX-License-Identifier: Apache-2.0

import Synchronization

// Threading: a container is its own lock's content and constants, so every method may be called from
// anywhere. The lock is held for table look-ups only, never while a factory or a deinit runs.

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
  let ledger: Mutex<Ledger>

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
  typealias Found<T> = (entry: Entry<T>, owner: Container)

  /// The nearest container with a candidate decides; a default recipe comes last, in the outermost.
  func locate<T>(_ key: Key<T>) throws(InjectionError) -> Found<T>? {
    var (container, owner) = (self, self)
    while true {
      if let entry = try container.own(key) { return (entry, owner) }
      guard let parent = container.parent else { break }
      container = parent
      if !container.isBackdrop { owner = container }
    }
    guard let make = key.make else { return nil }
    return (container.ledger.withLock { $0.adopt(key, make) }, owner)
  }

  private func own<T>(_ key: Key<T>) throws(InjectionError) -> Entry<T>? {
    guard let entry = try group(T.self)?.entry(key.name, key.label) else { return nil }
    // Sound: everything under a type's identifier is an Entry of that type, see Ledger.
    return unsafeDowncast(entry, to: Entry<T>.self)
  }

  /// This container and those it belongs to, the nearest first, and in which each makes its objects.
  var lineage: [(container: Container, owner: Container)] {
    var lineage = [(container: self, owner: self)]
    while let last = lineage.last, let parent = last.container.parent {
      lineage.append((parent, parent.isBackdrop ? last.owner : parent))
    }
    return lineage
  }

  func group<T>(_ type: T.Type) -> Group? {
    ledger.withLock { $0.groups[ObjectIdentifier(type)] }
  }
}

// MARK: - Description

extension Container: CustomStringConvertible {
  /// One line for each registration: its keys, its scope, and whether it is made.
  public var description: String {
    let (entries, groups) = ledger.withLock { ($0.entries, $0.groups) }
    let aliases = groups.values.flatMap(\.candidates).filter { $0.base != nil }
    let lines = entries.map { entry in
      let others = aliases.filter { $0.base === entry }.map(\.label).sorted()
      return ([entry.label] + others).joined(separator: ", ") + ": " + entry.status
        + (entry.isPrimary ? ", primary" : "") + (entry.isAsync ? ", async" : "")
    }
    let own = lines.isEmpty ? "nothing registered" : lines.joined(separator: "\n")
    return own + (parent.map { "\nparent:\n\($0)" } ?? "")
  }
}
