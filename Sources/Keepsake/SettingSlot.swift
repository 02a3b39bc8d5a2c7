// SPDX-License-Identifier: Apache-2.0
//
// What a setting knows of its place and of its value, apart from the value's type: code that is
// generic would look the type up at each read, which costs many times the read.

import Synchronization

/// The place of a setting in a store, and what was last read there.
final class SettingSlot: Sendable {
  struct Binding {
    let backing: Backing
    let key: String
    /// Of a class that is `Observable`.
    let tracked: TrackedKey?

    init(_ backing: Backing, _ key: String) {
      (self.backing, self.key) = (backing, key)
      tracked = backing.tracking?.key(key)
    }
  }

  private struct State {
    var binding: Binding?
    var known: (box: any AnyObject & Sendable, state: Backing.State)?
  }

  private let state = Mutex(State())

  var binding: Binding? { state.withLock { $0.binding } }

  /// - Returns: false when there is a binding already.
  func bind(_ binding: Binding) -> Bool {
    state.withLock { state in
      guard state.binding == nil else { return false }
      state.binding = binding
      return true
    }
  }

  /// What was kept, if it is still what a read would give.
  var known: (any AnyObject & Sendable)? {
    state.withLock { state in
      state.binding?.tracked?.access()
      guard let known = state.known, known.state == state.binding?.backing.state else { return nil }
      return known.box
    }
  }

  /// - Parameter state: from before the value was read: so it may be newer, and never older.
  func keep(_ box: any AnyObject & Sendable, as origin: Backing.State) {
    state.withLock { $0.known = (box, origin) }
  }
}

/// A value in a place of its own, which never changes.
final class Box<Value: Sendable>: Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
