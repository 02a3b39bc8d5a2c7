// SPDX-License-Identifier: Apache-2.0

#if Page
  import KeepsakeDevice
  import KeepsakeSync
  import KeepsakeValues
  import Synchronization

  /// One thing that the page has written.
  struct Edit: Sendable {
    let device: Int
    let address: Address
    let before: Entry?
    /// Nil if the key had no entry then, as after a deletion in a store that does not sync.
    fileprivate(set) var after: Entry?
    /// What was done.
    let deed: String
    /// The conflict that was resolved by it.
    var resolved: Conflict?

    var json: JSON {
      .object([
        "device": .integer(Int64(device)), "store": .string(address.store.string),
        "key": .string(address.key.string), "deed": .string(deed),
      ])
    }
  }

  /// What the page has written, as long as it can be undone.
  final class Edits: Sendable {
    /// How many can be undone.
    private static let most = 100

    let isAllowed: Bool
    /// Held for a few instructions; nothing is called under it.
    private let stack = Mutex<[Edit]>([])
    private let turn = Mutex(())

    init(isAllowed: Bool) { self.isAllowed = isAllowed }

    var last: Edit? { stack.withLock(\.last) }

    /// Lets one edit, or one undo, after the other be written and noted.
    func inTurn<Value: Sendable>(_ body: () throws -> Value) throws -> Value {
      try turn.withLock { _ in try body() }
    }

    /// Notes the newest one.
    func add(_ edit: Edit) {
      stack.withLock { stack in
        stack.append(edit)
        stack.removeFirst(max(0, stack.count - Self.most))
      }
    }

    /// Lets the edits before an undone one be undone too: the value that they wrote has a new
    /// entry.
    func follow(_ undone: Edit, as entry: Entry?) {
      stack.withLock { stack in
        for index in stack.indices
        where stack[index].device == undone.device && stack[index].address == undone.address
          && stack[index].after == undone.before
        {
          stack[index].after = entry
        }
      }
    }

    /// Forgets the newest one.
    func removeLast() { stack.withLock { _ = $0.popLast() } }

    /// - Throws: `Problem` on a page that only reads.
    func check() throws {
      guard isAllowed else {
        throw Problem(
          .forbidden, "this page can only read", cure: "run kvsync open with --edit")
      }
    }
  }
#endif
