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
    var problems = lineage.reversed().flatMap(\.unclear)
    /// The visited entries by the container that their recipes use.
    var finished: [ObjectIdentifier: Set<ObjectIdentifier>] = [:]
    var path: [(entry: RegistrationEntry, site: Container)] = []

    func visit(_ entry: RegistrationEntry, from asker: Container) {
      let site = entry.recipe.scope == .transient ? asker : entry.site
      if let start = path.firstIndex(where: { $0.entry === entry && $0.site === site }) {
        return problems.append(
          InjectionError(.circular, path: path[start...].map(\.entry.label) + [entry.label]))
      }
      if asker.isSet(entry) { return }  // Its recipe does not run.
      let isNew = finished[ObjectIdentifier(site), default: []].insert(ObjectIdentifier(entry))
      guard isNew.inserted else { return }
      path.append((entry, site))
      for need in entry.recipe.needs { follow(need, from: site) }
      path.removeLast()
    }
    func follow(_ need: AnyKey, from site: Container) {
      do throws(InjectionError) {
        let wrapped = need.wrapped?.key
        var next = try site.locate(need)
        if let wrapped, next == nil { next = try site.locate(wrapped) }
        if let next { return visit(site.isSet(next) ? next : next.origin, from: site) }
        if wrapped == nil { throw site.missing(need) }
      } catch {
        if error.code == .duplicate { return }  // `unclear` reports it once.
        var error = error
        error.path = path.map(\.entry.label) + [error.key]
        problems.append(error)
      }
    }

    for entry in registrations { visit(entry, from: self) }
    guard !problems.isEmpty else { return }
    throw InjectionError(.invalid, path: [], problems: problems)
  }

  /// Duplicate names, and types with more than one primary registration.
  private var unclear: [InjectionError] {
    locked { Array($0.candidates.values) }
      .map { ($0.key, $0.key.name == nil ? $0.primaries : $0.all) }
      .filter { $0.1.count > 1 }.sorted { $0.1[1].order < $1.1[1].order }
      .map(InjectionError.unclear)
  }
}
