// SPDX-License-Identifier: Apache-2.0

extension Container {
  /// A fresh child for a test, which does not reach the objects that the application uses.
  ///
  /// Every registration of `type`, whatever its key, scope and recipe, makes one object by `make`;
  /// if there is none, there is one without a name. While another copied recipe runs,
  /// `runsCopyForTest` is true.
  ///
  /// - Parameters:
  ///   - isShared: whether an object that was set is shared; if not, its key has no object.
  ///   - admission: throws for an object that the child must not hold. Called with each object that
  ///     is made or set, and with whether the test made or set it itself.
  package func freshChild<T: Sendable>(
    replacing type: T.Type, by make: @escaping @Sendable () throws -> T,
    sharing isShared: (Any) -> Bool,
    admitting admission: @escaping @Sendable (_ object: Any, _ isOwn: Bool) throws -> Void
  ) -> Container {
    let replaced = AnyKey(type).id
    let child = copied(admitting: admission, sharing: isShared) { entry in
      var recipe = entry.recipe
      // An alias of another registration of the type follows that one.
      guard recipe.key.id == replaced, entry.base?.recipe.key.id != replaced else { return nil }
      (recipe.scope, recipe.needs) = (.singleton, [])
      (recipe.make, recipe.makeLater, recipe.convert) = ({ _ in Box(try make()) }, nil, nil)
      return recipe
    }
    if !child.registrations.contains(where: { $0.recipe.key.id == replaced }) {
      // In the parent, so that the test's own registration is nearer.
      child.parent?.register { _ in try make() }
    }
    return child
  }

  /// Whether a recipe of the application runs in a test's container, or started this task.
  package static var runsCopyForTest: Bool {
    CopyOrigin.current?.isForTest ?? false
  }

  /// Throws for an object that this container must not hold.
  func admit(_ object: AnyBox) throws {
    try admission?(object.content, !Container.runsCopyForTest)
  }

  /// A child of copies of this container and its parents, without the objects that they made.
  ///
  /// - Parameters:
  ///   - admission: for a test; nil for any other fresh child.
  ///   - isShared: whether the copies share an object that was set.
  ///   - replacement: the recipe that a copy has instead; nil for its own.
  func copied(
    admitting admission: AdmissionCheck? = nil, sharing isShared: (Any) -> Bool = { _ in true },
    replacing replacement: (RegistrationEntry) -> Recipe? = { _ in nil }
  ) -> Container {
    Container.hasCopies.store(true, ordering: .relaxed)
    let innermost = lineage.reduce(nil) { parent, _ in
      Container(parent: parent, admission: admission ?? self.admission)
    }
    let child = Container(parent: innermost)
    var copies: [ObjectIdentifier: RegistrationEntry] = [:]
    for (container, original) in zip(child.lineage.dropFirst(), lineage).reversed() {
      let (entries, replacements) = original.locked { state in
        (state.entries.map { ($0, $0.isTemporary) }, Array(state.replacements.values))
      }
      for (entry, isTemporary) in entries {
        let other = replacement(entry)
        var recipe = other ?? entry.recipe
        recipe.origin = CopyOrigin(
          original: recipe.origin?.original ?? original.root, copy: container.root,
          isForTest: admission != nil || recipe.origin?.isForTest == true)
        let base = other == nil ? entry.base.flatMap { copies[ObjectIdentifier($0)] } : nil
        let copy = container.locked { [recipe] in
          $0.add(
            recipe, to: container, for: child, base: base,
            isTemporary: isTemporary && other == nil)
        }
        copy.adopt(entry, if: isShared)
        copies[ObjectIdentifier(entry)] = copy
      }
      for entry in replacements {
        guard let inherited = entry.inherited else { continue }
        copies[ObjectIdentifier(inherited)]?.adopt(entry, if: isShared)
      }
    }
    return child
  }
}
