// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A map that a thread reads without a lock while another one changes it.
///
/// A binary tree in which the bits of a key's hash are the way to its node. Nodes are only added: a
/// key stays, and its value may become nil. So a reader always finds complete nodes. O(log keys).
///
/// The caller keeps the values alive as long as the map, and makes one change at a time.
// Sendable: what changes is atomic.
struct LookupTree: ~Copyable, @unchecked Sendable {
  private final class Node {
    let key: Target
    let value: Atomic<Unmanaged<Entry>?>
    private let zero = Atomic<Unmanaged<Node>?>(nil)
    private let one = Atomic<Unmanaged<Node>?>(nil)

    init(_ key: Target, _ value: Unmanaged<Entry>?) {
      self.key = key
      self.value = Atomic(value)
    }

    deinit {
      child(false)?.release()
      child(true)?.release()
    }

    func child(_ bit: Bool) -> Unmanaged<Node>? {
      bit ? one.load(ordering: .acquiring) : zero.load(ordering: .acquiring)
    }

    func append(_ node: Unmanaged<Node>, _ bit: Bool) {
      if bit { one.store(node, ordering: .releasing) }
      if !bit { zero.store(node, ordering: .releasing) }
    }
  }

  private let root = Atomic<Unmanaged<Node>?>(nil)

  init() {}

  deinit { root.load(ordering: .acquiring)?.release() }

  /// The value of a key; `.some(nil)` for a key without a value, nil for an absent key.
  func find(_ key: Target) -> Unmanaged<Entry>?? {
    var bits = key.hash
    var next = root.load(ordering: .acquiring)
    while let node = next {
      if node._withUnsafeGuaranteedRef({ $0.key == key }) {
        return .some(node._withUnsafeGuaranteedRef { $0.value.load(ordering: .acquiring) })
      }
      next = node._withUnsafeGuaranteedRef { $0.child(bits & 1 == 1) }
      bits >>= 1
    }
    return nil
  }

  /// - Parameter adding: whether to add an absent key.
  func set(_ value: Entry?, for key: Target, adding: Bool = true) {
    let value = value.map { Unmanaged.passUnretained($0) }
    var bits = key.hash
    var parent: (node: Unmanaged<Node>, bit: Bool)?
    var next = root.load(ordering: .acquiring)
    while let node = next {
      let (isFound, child) = node._withUnsafeGuaranteedRef { node in
        if node.key == key { node.value.store(value, ordering: .releasing) }
        return (node.key == key, node.child(bits & 1 == 1))
      }
      if isFound { return }
      parent = (node, bits & 1 == 1)
      next = child
      bits >>= 1
    }
    guard adding else { return }
    let node = Unmanaged.passRetained(Node(key, value))
    guard let parent else { return root.store(node, ordering: .releasing) }
    parent.node._withUnsafeGuaranteedRef { $0.append(node, parent.bit) }
  }
}

extension Target {
  /// The addresses of types differ in their middle bits; a product mixes them into its high ones.
  fileprivate var hash: UInt64 {
    let hash = (UInt64(UInt(bitPattern: id)) &* 0x9E37_79B9_7F4A_7C15).byteSwapped
    return name.map { hash ^ UInt64(truncatingIfNeeded: $0.hashValue) } ?? hash
  }
}
