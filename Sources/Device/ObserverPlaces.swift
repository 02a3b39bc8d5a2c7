// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

/// Finds observers by what they observe: there may be one for each setting, and each commit would
/// ask all of them.
struct ObserverPlaces {
  private var byAddress: [Address: [Int]] = [:]
  private var byStore: [ByteText: [Int]] = [:]
  /// Of every store, or of every commit.
  private var others: [Int] = []
  private var everyCommit = 0

  var hasEveryCommit: Bool { everyCommit > 0 }

  /// - Parameter scope: nil for every commit.
  mutating func add(_ id: Int, _ scope: Scope?) {
    if scope == nil { everyCommit += 1 }
    if let address = scope?.address {
      byAddress[address, default: []].append(id)
    } else if let store = scope?.store {
      byStore[store, default: []].append(id)
    } else {
      others.append(id)
    }
  }

  mutating func remove(_ id: Int, _ scope: Scope?) {
    if scope == nil { everyCommit -= 1 }
    if let address = scope?.address {
      Self.remove(id, at: address, from: &byAddress)
    } else if let store = scope?.store {
      Self.remove(id, at: store, from: &byStore)
    } else {
      others.removeAll { $0 == id }
    }
  }

  private static func remove<Place>(_ id: Int, at place: Place, from ids: inout [Place: [Int]]) {
    ids[place]?.removeAll { $0 == id }
    if ids[place]?.isEmpty == true { ids[place] = nil }
  }

  /// In ascending order, each once.
  func ids(for changes: [SettingChange]) -> [Int] {
    var found = Set(others)
    for change in changes {
      let address = Address(store: change.store, key: change.key)
      found.formUnion(byAddress[address] ?? [])
      found.formUnion(byStore[address.store] ?? [])
    }
    return found.sorted()
  }
}
