// SPDX-License-Identifier: Apache-2.0
//
// The keys that a device has, in memory: so that a search of 100,000 follows typing.

#if Page
  import Foundation
  import KeepsakeDevice
  import KeepsakeValues
  import Synchronization

  struct KeyIndex {
    struct Item {
      let address: Address
      /// The key in lower case.
      let folded: String
      /// Of its last write; nil where it only has a seeded default.
      let timestamp: HybridTimestamp?
    }

    /// In the order of store and key.
    private(set) var items: [Item] = []
    private var seeds: Set<Address> = []

    init(_ device: Device) throws(KeepsakeError) {
      for store in try device.seededStores() {
        for seed in try device.defaults(store: store) {
          seeds.insert(Address(store: store, key: seed.key))
        }
      }
      var rest = seeds
      try device.forEachEntry { entry in
        guard !entry.content.isTombstone else { return }
        items.append(Item(entry.address, entry.timestamp))
        if !rest.isEmpty { rest.remove(entry.address) }
      }
      guard !rest.isEmpty else { return }
      items = (items + rest.map { Item($0, nil) }).sorted { $0.address < $1.address }
    }

    /// Notes a change; one that is known already changes nothing.
    mutating func apply(_ change: SettingChange) {
      let item = Item(Address(store: change.store, key: change.key), change.timestamp)
      var (low, high) = (0, items.count)
      while low < high {
        let middle = (low + high) / 2
        if items[middle].address < item.address { low = middle + 1 } else { high = middle }
      }
      let isThere = low < items.count && items[low].address == item.address
      switch (isThere, change.after.isTombstone) {
      case (true, true) where seeds.contains(item.address): items[low] = Item(item.address, nil)
      case (true, true): items.remove(at: low)
      case (true, false): items[low] = item
      case (false, true): break
      case (false, false): items.insert(item, at: low)
      }
    }

    /// The places of the keys that contain every word of a text, whatever their case.
    func places(of text: String, store: String?) -> [Int] {
      let words = text.lowercased().split(separator: " ").map { Array($0.utf8) }
      let store = store.map(ByteText.init)
      return items.indices.filter { place in
        let item = items[place]
        return (store == nil || item.address.store == store)
          && words.allSatisfy { item.folded.contains(bytes: $0) }
      }
    }
  }

  extension KeyIndex.Item {
    fileprivate init(_ address: Address, _ timestamp: HybridTimestamp?) {
      self.init(
        address: address, folded: address.key.string.lowercased(), timestamp: timestamp)
    }
  }

  extension String {
    fileprivate func contains(bytes: [UInt8]) -> Bool {
      guard let first = bytes.first else { return true }
      var text = self
      return text.withUTF8 { text in
        guard var place = UnsafeRawPointer(text.baseAddress), text.count >= bytes.count else {
          return false
        }
        let end = place + (text.count - bytes.count + 1)
        while let found = memchr(place, Int32(first), end - place) {
          if memcmp(found, bytes, bytes.count) == 0 { return true }
          place = UnsafeRawPointer(found) + 1
        }
        return false
      }
    }
  }

  /// The index of a device that changes meanwhile.
  final class LiveIndex: Sendable {
    /// More changes at once than this, and the keys are read again.
    private static let most = 1_000

    private struct State {
      var index: KeyIndex?
      /// How often something was noted.
      var version = 0
    }

    /// Held while an index is searched for a place, and never while a file is read.
    private let state = Mutex(State())

    func note(_ changes: [SettingChange]) {
      state.withLock { state in
        state.version += 1
        if changes.count > Self.most { state.index = nil }
        for change in changes { state.index?.apply(change) }
      }
    }

    /// The device has to be observed already.
    func current(_ device: Device) throws(KeepsakeError) -> KeyIndex {
      let (known, version) = state.withLock { ($0.index, $0.version) }
      if let known { return known }
      let index = try KeyIndex(device)
      state.withLock { state in
        // What came meanwhile is in it or not; then the next one reads again.
        if state.version == version { state.index = index }
      }
      return index
    }
  }
#endif
