// SPDX-License-Identifier: Apache-2.0
//
// The keys of a device in memory: so a search of 100,000 keeps up with typing.

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
      /// The timestamp of the last write; nil if the key only has a seeded default.
      let timestamp: HybridTimestamp?
    }

    /// In the order of store and key.
    private(set) var items: [Item] = []

    init(_ device: Device) throws(KeepsakeError) {
      var seeds: Set<Address> = []
      for store in try device.seededStores() {
        for seed in try device.defaults(store: store) {
          seeds.insert(Address(store: store, key: seed.key))
        }
      }
      try device.forEachEntry { entry in
        guard !entry.content.isTombstone else { return }
        items.append(Item(entry.address, entry.timestamp))
        if !seeds.isEmpty { seeds.remove(entry.address) }
      }
      guard !seeds.isEmpty else { return }
      items = (items + seeds.map { Item($0, nil) }).sorted { $0.address < $1.address }
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

  /// The index of a device, which is rebuilt after a change.
  final class LiveIndex: Sendable {
    private struct CachedIndex {
      var index: KeyIndex?
      /// The number of changes.
      var version = 0
    }

    /// Never held while a file is read.
    private let state = Mutex(CachedIndex())

    /// Discards the index after a change: the next search reads the keys again.
    func invalidate() {
      state.withLock { state in
        state.version += 1
        state.index = nil
      }
    }

    /// The device has to be observed already.
    func current(_ device: Device) throws(KeepsakeError) -> KeyIndex {
      let (known, version) = state.withLock { ($0.index, $0.version) }
      if let known { return known }
      let index = try KeyIndex(device)
      state.withLock { state in
        // If the device has changed meanwhile, the index may lack that, and is not kept.
        if state.version == version { state.index = index }
      }
      return index
    }
  }
#endif
