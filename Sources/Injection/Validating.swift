// SPDX-License-Identifier: Apache-2.0

extension Container {
  /// Checks for missing, ambiguous, duplicate and circular registrations.
  ///
  /// Runs no factory: it follows the declared arguments of `using:` registrations, not the lookups
  /// of closures. Declare arguments that only `make(with:)` passes by `set(nil, for:)`. Linear in
  /// the number of registrations and arguments; a transient one counts once for each container that
  /// uses it.
  ///
  /// - Throws: `InjectionError` with `invalid` and all `problems`.
  public func validate() throws {
    var problems = sequence(first: self, next: \.parent).reversed().flatMap(\.unclear)
    /// The visited entries by the container that their recipes use.
    var finished: [ObjectIdentifier: Set<ObjectIdentifier>] = [:]
    var path: [(entry: Entry, site: Container)] = []

    func visit(_ entry: Entry, _ asker: Container) {
      let site = entry.recipe.scope == .transient ? asker : entry.site
      if let start = path.firstIndex(where: { $0.entry === entry && $0.site === site }) {
        return problems.append(.circular(path[start...].map(\.entry.label) + [entry.label]))
      }
      if asker.isSet(entry) { return }  // Its recipe does not run.
      let isNew = finished[ObjectIdentifier(site), default: []].insert(ObjectIdentifier(entry))
      guard isNew.inserted else { return }
      path.append((entry, site))
      for need in entry.recipe.needs { follow(need, site) }
      path.removeLast()
    }
    func follow(_ need: Target, _ site: Container) {
      do throws(InjectionError) {
        let wrapped = need.wrapped?.target
        var next = try site.locate(need)
        if let wrapped, next == nil { next = try site.locate(wrapped) }
        if let next { return visit(site.isSet(next) ? next : next.origin, site) }
        if wrapped == nil { throw site.missing(need) }
      } catch {
        if error.code == .duplicate { return }  // `unclear` reports it once.
        var error = error
        error.path = path.map(\.entry.label) + [error.key]
        problems.append(error)
      }
    }

    for entry in registrations { visit(entry, self) }
    guard !problems.isEmpty else { return }
    throw InjectionError(code: .invalid, path: [], problems: problems, cure: "Fix each of these:")
  }

  /// Duplicate names, and types with more than one primary registration.
  private var unclear: [InjectionError] {
    let (byKey, byType) = locked { ($0.byKey, $0.byType.values) }
    let names = byKey.values.compactMap { candidates -> (Target, [Entry])? in
      let target = candidates.all[0].recipe.target
      return target.name == nil ? nil : (target, candidates.all)
    }
    let types = byType.map { ($0.all[0].recipe.target.unnamed, $0.primaries) }
    return (names + types).filter { $0.1.count > 1 }.sorted { $0.1[1].order < $1.1[1].order }
      .map(InjectionError.unclear)
  }
}
