// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A map that a thread reads without a lock while another one changes it.
///
/// A binary tree; the bits of a key's hash are the path to its node. Nodes are only added: a key
/// stays, and its value may become nil. So a reader always finds complete nodes. O(log keys).
///
/// The caller keeps the values alive as long as the map, and makes one change at a time.
// Sendable: what changes is atomic.
struct LookupTree<Value: AnyObject>: @unchecked Sendable {
  private final class Node {
    let key: AnyKey
    let value: Atomic<Unmanaged<Value>?>
    private let zero = Atomic<Unmanaged<Node>?>(nil)
    private let one = Atomic<Unmanaged<Node>?>(nil)

    init(_ key: AnyKey, value: Unmanaged<Value>?) {
      self.key = key
      self.value = Atomic(value)
    }

    deinit {
      child(0)?.release()
      child(1)?.release()
    }

    /// - Parameter bits: the lowest bit selects the child.
    func child(_ bits: UInt64) -> Unmanaged<Node>? {
      bits & 1 == 1 ? one.load(ordering: .acquiring) : zero.load(ordering: .acquiring)
    }

    func append(_ node: Unmanaged<Node>, at bits: UInt64) {
      if bits & 1 == 1 { one.store(node, ordering: .releasing) }
      if bits & 1 == 0 { zero.store(node, ordering: .releasing) }
    }
  }

  /// The parent of the first node; its own key is not compared.
  private let root = Node(AnyKey(Never.self), value: nil)

  /// The value of a key; `.some(nil)` for a key without a value, nil for an absent key.
  func find(_ key: AnyKey) -> Unmanaged<Value>?? {
    var bits = key.hash
    var next = root.child(bits)
    while let node = next {
      if node._withUnsafeGuaranteedRef({ $0.key == key }) {
        return .some(node._withUnsafeGuaranteedRef { $0.value.load(ordering: .acquiring) })
      }
      bits >>= 1
      next = node._withUnsafeGuaranteedRef { $0.child(bits) }
    }
    return nil
  }

  /// - Parameter adding: whether to add an absent key.
  func set(_ value: Value?, for key: AnyKey, adding: Bool = true) {
    let value = value.map { Unmanaged.passUnretained($0) }
    var bits = key.hash
    var parent = root
    while let node = parent.child(bits)?.takeUnretainedValue() {
      if node.key == key { return node.value.store(value, ordering: .releasing) }
      parent = node
      bits >>= 1
    }
    if adding { parent.append(.passRetained(Node(key, value: value)), at: bits) }
  }
}

extension AnyKey {
  /// The addresses of types differ in their middle bits. A product mixes these into its high bits.
  fileprivate var hash: UInt64 {
    let hash = (UInt64(UInt(bitPattern: id)) &* 0x9E37_79B9_7F4A_7C15).byteSwapped
    return name.map { hash ^ UInt64(truncatingIfNeeded: $0.hashValue) } ?? hash
  }
}
