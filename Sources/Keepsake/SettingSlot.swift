// SPDX-License-Identifier: Apache-2.0
//
// What a setting knows of its place and of its value, apart from the value's type: code that is
// generic would look the type up at each read, which costs many times the read.

import KeepsakeDevice
import KeepsakeValues
import Synchronization

/// The place of a setting in a store, and what was last read there.
final class SettingSlot: Sendable {
  struct Binding {
    let backing: Backing
    /// What the keys of the members begin with, if there are `fields`.
    let key: String
    /// Of a value that is stored member by member.
    var fields: Fields?
  }

  private struct State {
    var binding: Binding?
    /// Of a class that is `Observable`.
    var tracked: TrackedKey?
    var known: Known?
  }

  /// An object, because a read would copy a structure of this size.
  private final class Known: Sendable {
    let box: any AnyObject & Sendable
    private let state: StoreState

    init(_ box: any AnyObject & Sendable, _ state: StoreState) {
      (self.box, self.state) = (box, state)
    }

    var isCurrent: Bool { state.isCurrent }
  }

  private let state = Mutex(State())

  var binding: Binding? { state.withLock { $0.binding } }

  /// - Returns: false when there is a binding already.
  func bind(_ binding: Binding) -> Bool {
    state.withLock { state in
      guard state.binding == nil else { return false }
      state.binding = binding
      state.tracked = binding.backing.tracking?.key(of: binding.keys)
      return true
    }
  }

  /// What was kept, if it is still what a read would give.
  var known: (any AnyObject & Sendable)? {
    state.withLock { state in
      state.tracked?.access()
      guard let known = state.known, known.isCurrent else { return nil }
      return known.box
    }
  }

  /// - Parameter origin: from before the value was read: so it may be newer, and never older.
  func keep(_ box: any AnyObject & Sendable, as origin: StoreState) {
    let known = Known(box, origin)
    let last = state.withLock { state -> Known? in
      guard state.binding?.backing.isHere(origin) == true else { return nil }
      defer { state.known = known }
      return state.known
    }
    // Either may go here, and what it holds may read this very setting. An optimiser that knows no
    // further use would let them go where they were last used, which is within the lock.
    withExtendedLifetime((known, last)) {}
  }
}

extension SettingSlot.Binding {
  var keys: [String] { fields?.members.map(\.key) ?? [key] }

  /// What is in force: of members, a dictionary of those that some layer has.
  func stored() throws(KeepsakeError) -> StoredValue? {
    try fields == nil ? backing.value(key) : form(of: backing.values(keys))
  }

  /// - Parameter values: one for each key.
  func form(of values: [StoredValue?]) -> StoredValue? {
    guard let fields else { return values.first ?? nil }
    let found = zip(fields.members, values).compactMap { member, value in
      value.map { (member.name, $0) }
    }
    return found.isEmpty ? nil : .dictionary(Dictionary(uniqueKeysWithValues: found))
  }

  func reset() throws {
    guard fields != nil else { return try backing.set(nil, key) }
    try backing.transaction(backing.durability) {
      for key in keys { try backing.set(nil, key) }
    }
  }
}

/// A value in a place of its own, which never changes.
final class Box<Value: Sendable>: Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
