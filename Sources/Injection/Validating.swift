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
      .invalid, nil, path: [], problems: check.problems, cure: "Solve each of these.")
  }
}

/// One depth-first walk over the declared arguments.
private struct Validation {
  private(set) var problems: [InjectionError] = []
  private var finished: Set<ObjectIdentifier> = []
  private var open: [Entry] = []

  mutating func visitAll(in container: Container, _ owner: Container, asker: Container) {
    let registrations = container.registrations
    let groups = registrations.groups.values.filter { !$0.problems.isEmpty }
    problems += groups.sorted { $0.candidates[0].order < $1.candidates[0].order }
      .flatMap(\.problems)
    for entry in registrations.entries { visit(entry, entry.scope == .transient ? asker : owner) }
  }

  private mutating func visit(_ entry: Entry, _ site: Container) {
    if let start = open.firstIndex(where: { $0 === entry }) {
      problems.append(.circular((open[start...] + [entry]).map(\.label)))
      return
    }
    guard finished.insert(ObjectIdentifier(entry)).inserted else { return }
    open.append(entry)
    for need in entry.needs { follow(need, site) }
    open.removeLast()
  }

  private mutating func follow(_ need: Target, _ site: Container) {
    let wrapped = need.nillable?.wrapped
    let path = open.map(\.label) + [(wrapped ?? need).label]
    do {
      if let (next, owner) = try site.locate(need) ?? wrapped.flatMap(site.locate) {
        visit(next.origin, next.origin.scope == .transient ? site : owner)
      } else if wrapped == nil {
        problems.append(
          InjectionError(
            .missing, need, path: path,
            cure: "Register it, or declare it with `set(nil, for:)` when it is given later."))
      }
    } catch let error as InjectionError where error.code != .duplicate {
      problems.append(
        InjectionError(
          error.code, wrapped ?? need, candidates: error.candidates, path: path, cure: error.cure))
    } catch {
      // One that is registered twice is reported by its group.
    }
  }
}
