// SPDX-License-Identifier: Apache-2.0

extension Container {
  /// Reports everything that is missing, ambiguous, registered twice or circular, at once.
  ///
  /// Runs no factory: `using:` registrations are checked by the arguments they declare; a closure
  /// cannot be looked into. Arguments given only by `make(with:)` are declared by `set(nil, for:)`.
  /// Time is linear in the number of registrations and of their arguments.
  /// - Throws: `InjectionError` with `invalid` and all `problems`.
  public func validate() throws {
    let container = inForce
    var problems = sequence(first: container, next: \.parent).reversed().flatMap(\.unclear)
    var finished: Set<ObjectIdentifier> = []

    func visit(_ entry: Entry, _ asker: Container, via path: [Entry]) {
      let path = path + [entry]
      if let start = path.dropLast().firstIndex(where: { $0 === entry }) {
        return problems.append(.circular(path[start...].map(\.label)))
      }
      guard finished.insert(ObjectIdentifier(entry)).inserted else { return }
      let site = entry.recipe.scope == .transient ? asker : entry.owner
      for need in entry.recipe.needs { follow(need, site, via: path) }
    }
    func follow(_ need: Target, _ site: Container, via path: [Entry]) {
      do throws(InjectionError) {
        let type = need.type as? any Nillable.Type
        var next = try site.locate(need)
        if let type, next == nil { next = try site.locate(Target(type.wrapped, need.name)) }
        if let next {
          visit(next.origin, site, via: path)
        } else if type == nil {
          throw site.missing(need)
        }
      } catch  where error.code != .duplicate {  // That is reported once, by `unclear`.
        var error = error
        error.path = path.map(\.label) + [error.key]
        problems.append(error)
      } catch {}
    }

    for entry in container.registrations { visit(entry, container, via: []) }
    guard !problems.isEmpty else { return }
    throw InjectionError(code: .invalid, path: [], problems: problems, cure: "Solve each of these:")
  }

  /// Names given twice, and more than one primary.
  private var unclear: [InjectionError] {
    let rivals = locked { $0.candidates }.map { target, all in
      (target, all.filter { target.name != nil || $0.recipe.isPrimary })
    }
    return rivals.filter { $0.1.count > 1 }.sorted { $0.1[1].order < $1.1[1].order }
      .map(InjectionError.unclear)
  }
}
