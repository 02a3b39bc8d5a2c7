// SPDX-License-Identifier: Apache-2.0

extension Container {
  /// Reports everything that is missing, ambiguous, registered twice or circular, at once.
  ///
  /// Runs no factory: `using:` registrations are checked by the arguments they declare; a closure
  /// cannot be looked into. Arguments given only by `make(with:)` are declared by `set(nil, for:)`.
  /// Time is linear in the number of registrations and of their arguments.
  /// - Throws: `InjectionError` with `invalid` and all `problems`.
  public func validate() throws {
    var check = Validation()
    for (container, owner) in lineage { check.visitAll(in: container, owner, asker: self) }
    guard !check.problems.isEmpty else { return }
    throw InjectionError(
      .invalid, "Container", problems: check.problems, cure: "Solve each of these.")
  }
}

/// One depth-first walk over the declared arguments.
private struct Validation {
  private(set) var problems: [InjectionError] = []
  private var finished: Set<ObjectIdentifier> = []
  private var open: [any AnyEntry] = []

  mutating func visitAll(in container: Container, _ owner: Container, asker: Container) {
    let (entries, groups) = container.ledger.withLock { ($0.entries, $0.groups) }
    for group in groups.values.sorted(by: { $0.candidates[0].order < $1.candidates[0].order }) {
      problems += group.problems
    }
    for entry in entries { visit(entry, entry.scope == .transient ? asker : owner) }
  }

  private mutating func visit(_ entry: any AnyEntry, _ site: Container) {
    if let start = open.firstIndex(where: { $0 === entry }) {
      problems.append(.circular((open[start...] + [entry]).map(\.label)))
      return
    }
    guard finished.insert(ObjectIdentifier(entry)).inserted else { return }
    open.append(entry)
    for need in entry.needs { follow(need, of: entry, site) }
    open.removeLast()
  }

  private mutating func follow(_ need: Need, of entry: any AnyEntry, _ site: Container) {
    do {
      if let (next, owner) = try need.locate(site) {
        visit(next.origin, next.origin.scope == .transient ? site : owner)
      } else if !need.mayBeMissing {
        problems.append(
          InjectionError(
            .missing, need.label, path: open.map(\.label) + [need.label],
            cure: "Register it, or declare it with `set(nil, for:)` when it is given later."))
      }
    } catch {
      // One that is registered twice is reported by its group.
      if error.code != .duplicate { problems.append(error.under(open.map(\.label))) }
    }
  }
}
