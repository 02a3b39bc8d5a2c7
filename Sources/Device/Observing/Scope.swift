// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

/// The changes that an observer gets.
struct Scope: Sendable, Hashable {
  /// Nil for all.
  let store: ByteText?
  let keys: KeyFilter

  func contains(_ address: Address) -> Bool {
    (store.map { $0 == address.store } ?? true) && keys.contains(address.key)
  }

  func contains(_ change: SettingChange) -> Bool {
    contains(Address(store: change.store, key: change.key))
  }

  /// The one address that it is about; nil when there may be others.
  var address: Address? {
    guard let store, case .keys(let keys) = self.keys.kind, keys.count == 1, let key = keys.first
    else { return nil }
    return Address(store: store.string, key: key.string)
  }
}

/// Finds the scopes of observers: there may be one for each setting, and each commit would ask all
/// of them.
struct ScopeIndex {
  private var byAddress: [Address: Set<Int>] = [:]
  /// Scopes of more than one address by their store, nil for all, and by their observers.
  private var byStore: [ByteText?: [Int: Scope]] = [:]
  private var ofEveryCommit: Set<Int> = []

  var isEmpty: Bool { byAddress.isEmpty && byStore.isEmpty }
  var hasEveryCommit: Bool { !ofEveryCommit.isEmpty }

  var all: Set<Scope> { Set(byObserver.values) }

  /// - Parameter scope: nil for every commit.
  mutating func add(_ id: Int, _ scope: Scope?) {
    if let address = scope?.address {
      byAddress[address, default: []].insert(id)
    } else if let scope {
      byStore[scope.store, default: [:]][id] = scope
    } else {
      ofEveryCommit.insert(id)
    }
  }

  mutating func remove(_ id: Int, _ scope: Scope?) {
    if let address = scope?.address {
      byAddress[address]?.remove(id)
      if byAddress[address]?.isEmpty == true { byAddress[address] = nil }
    } else if let scope {
      byStore[scope.store]?[id] = nil
      if byStore[scope.store]?.isEmpty == true { byStore[scope.store] = nil }
    } else {
      ofEveryCommit.remove(id)
    }
  }

  func contains(_ address: Address) -> Bool {
    if byAddress[address] != nil { return true }
    return [address.store, nil].contains { store in
      byStore[store]?.values.contains { $0.contains(address) } ?? false
    }
  }

  /// The scope of each observer, but for observers of every commit, which have none.
  var byObserver: [Int: Scope] {
    var all: [Int: Scope] = [:]
    for (address, ids) in byAddress {
      let scope = Scope(store: address.store, keys: .key(address.key.string))
      for id in ids { all[id] = scope }
    }
    for scopes in byStore.values { all.merge(scopes) { $1 } }
    return all
  }

  /// Whether one of the scopes has all that `scope` has.
  func covers(_ scope: Scope) -> Bool {
    if let address = scope.address { return contains(address) }
    return [scope.store, nil].contains { store in
      byStore[store]?.values.contains { $0.keys == scope.keys || $0.keys == .all } ?? false
    }
  }

  /// The observers that may get some of the changes, in ascending order. O(changes).
  func ids(for changes: [SettingChange]) -> [Int] {
    var found = ofEveryCommit.union(byStore[nil, default: [:]].keys)
    for change in changes {
      let address = Address(store: change.store, key: change.key)
      found.formUnion(byAddress[address, default: []])
      found.formUnion(byStore[address.store, default: [:]].keys)
    }
    return found.sorted()
  }
}
