// SPDX-License-Identifier: Apache-2.0

/// How a fresh child for a test changes the registrations that it copies.
struct TestRules {
  /// The type whose registrations get another recipe.
  let replaced: Target
  let make: @Sendable (Container) throws -> AnyBox
  /// Whether an object that was set is copied.
  let isShared: (Any) -> Bool
  let admission: Container.Admission

  /// The other recipe of a registration; nil if it keeps its own.
  fileprivate func replacement(of entry: Entry) -> Recipe? {
    var recipe = entry.recipe
    // An alias of another registration of the type follows that one.
    guard recipe.target.id == replaced.id, entry.base?.recipe.target.id != replaced.id else {
      return nil
    }
    (recipe.scope, recipe.needs) = (.singleton, [])
    (recipe.make, recipe.makeLater, recipe.convert) = (make, nil, nil)
    return recipe
  }
}

extension Container {
  /// A fresh child for a test, which does not reach what the application uses.
  ///
  /// Every registration of `type`, whatever its key, scope and recipe, makes one object by `make`;
  /// if there is none, there is one without a name. While another copied recipe runs,
  /// `runsCopyForTest` is true.
  ///
  /// - Parameters:
  ///   - isShared: whether an object that was set is shared; otherwise its key has none.
  ///   - admission: throws for an object that the child must not have. Called with each object that
  ///     is made or set, and with whether the test did that, and no copied recipe.
  package func freshChild<T: Sendable>(
    replacing type: T.Type, by make: @escaping @Sendable () throws -> T,
    sharing isShared: @escaping (Any) -> Bool,
    admitting admission: @escaping @Sendable (_ object: Any, _ isOwn: Bool) throws -> Void
  ) -> Container {
    let rules = TestRules(
      replaced: Target(type), make: { _ in Box(try make()) }, isShared: isShared,
      admission: admission)
    let child = copied(by: rules)
    if !child.registrations.contains(where: { $0.recipe.target.id == rules.replaced.id }) {
      // In the parent, so that the test's own registration comes first.
      child.parent?.register { _ in try make() }
    }
    return child
  }

  /// Whether a recipe of the application runs in a container for a test, or started this task.
  package static var runsCopyForTest: Bool {
    CopyOrigin.current?.isForTest ?? false
  }

  /// Throws for an object that this container must not have.
  func admit(_ object: AnyBox) throws {
    try admission?(object.content, !Container.runsCopyForTest)
  }

  /// A child of copies of this container and its parents, without the objects that they made.
  func copied(by rules: TestRules? = nil) -> Container {
    Container.hasCopies.store(true, ordering: .relaxed)
    let originals = Array(sequence(first: self, next: \.parent))
    let admission = rules?.admission ?? self.admission
    let copy = originals.reduce(nil) { parent, _ in
      Container(parent: parent, admission: admission)
    }
    let child = Container(parent: copy)
    var copies: [ObjectIdentifier: Entry] = [:]
    let pairs = zip(sequence(first: child, next: \.parent).dropFirst(), originals)
    for (copy, original) in Array(pairs).reversed() {
      copy.adopt(original, for: child, rules, &copies)
    }
    return child
  }

  /// Copies registrations and the objects of `set`.
  ///
  /// - Parameter copies: the copies of the parents' registrations, and of these, by the originals.
  private func adopt(
    _ original: Container, for site: Container, _ rules: TestRules?,
    _ copies: inout [ObjectIdentifier: Entry]
  ) {
    let isShared = rules?.isShared ?? { _ in true }
    let (entries, replacements) = original.locked { state in
      (state.entries.map { ($0, $0.isTemporary) }, Array(state.replacements.values))
    }
    for (entry, isTemporary) in entries {
      let replacement = rules?.replacement(of: entry)
      var recipe = replacement ?? entry.recipe
      recipe.origin = CopyOrigin(
        original: recipe.origin?.original ?? original.root, copy: root,
        isForTest: rules != nil || recipe.origin?.isForTest == true)
      let base = replacement == nil ? entry.base.flatMap { copies[ObjectIdentifier($0)] } : nil
      let isDiscarded = isTemporary && replacement == nil
      let copy = locked { [recipe] in
        $0.add(recipe, to: self, for: site, base: base, isTemporary: isDiscarded)
      }
      copy.adopt(entry, if: isShared)
      copies[ObjectIdentifier(entry)] = copy
    }
    for entry in replacements {
      if let inherited = entry.inherited {
        copies[ObjectIdentifier(inherited)]?.adopt(entry, if: isShared)
      }
    }
  }
}
