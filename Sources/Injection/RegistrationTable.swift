// SPDX-License-Identifier: Apache-2.0

import Synchronization

extension Container.Candidates {
  func chosen() throws(InjectionError) -> RegistrationEntry {
    if let choice { return choice }
    throw .unclear(key, among: all)
  }

  fileprivate mutating func add(_ entry: RegistrationEntry) {
    let index = all.lastIndex { $0.order <= entry.order }.map { $0 + 1 } ?? 0
    if index > 0, all[index - 1].origin === entry.origin { return }
    all.insert(entry, at: index)
  }
}

// MARK: - Under the lock

extension Container.State {
  mutating func add(
    _ recipe: Recipe, to owner: Container, for site: Container? = nil,
    base: RegistrationEntry? = nil, isTemporary: Bool = false
  ) -> RegistrationEntry {
    let entry = RegistrationEntry(
      recipe, in: owner, for: site ?? owner, order: base?.order ?? count, base: base,
      isTemporary: isTemporary)
    if base == nil { count += 1 }
    entries.append(entry)
    for key in recipe.key.matching {
      candidates[key, default: Container.Candidates(key: key)].add(entry)
    }
    publishChoices(of: entry)
    return entry
  }

  /// The registration that `set` changes in place of a parent's. The parent's keys and `then:`
  /// still apply; its recipe and its object do not change.
  mutating func replacement(
    of inherited: RegistrationEntry, in owner: Container
  ) -> RegistrationEntry {
    if let known = replacements[ObjectIdentifier(inherited)] { return known }
    var recipe = Recipe(key: inherited.recipe.key)
    recipe.then = inherited.recipe.then
    recipe.origin = inherited.recipe.origin
    let entry = RegistrationEntry(
      recipe, in: owner, for: owner, inPlaceOf: inherited, isTemporary: true)
    replacements[ObjectIdentifier(inherited)] = entry
    owner.hasReplacements.store(true, ordering: .releasing)
    return entry
  }

  /// Removes a registration that only `set` made, if it has no object.
  mutating func discard(_ entry: RegistrationEntry) {
    guard entry.isTemporary, entry.isVacant, !entry.isDiscarded else { return }
    entry.isDiscarded = true
    if let inherited = entry.inherited.map(ObjectIdentifier.init) {
      replacements[inherited] = nil
      return entry.owner.hasReplacements.store(!replacements.isEmpty, ordering: .releasing)
    }
    entries.removeAll { $0 === entry }
    for key in entry.recipe.key.matching {
      candidates[key]?.all.removeAll { $0 === entry }
      if candidates[key]?.all.isEmpty == true { candidates[key] = nil }
    }
    publishChoices(of: entry)
  }

  /// Updates the choices of a registration's keys for lookups without the lock.
  ///
  /// The tree never removes a key. So a key that only `set` registered is not added, and such a
  /// registration is no choice.
  private func publishChoices(of entry: RegistrationEntry) {
    for key in entry.recipe.key.matching {
      let choice = candidates[key]?.choice
      let value = choice?.isTemporary == true ? nil : choice
      entry.owner.choices.set(value, for: key, adding: !entry.isTemporary)
    }
  }
}
