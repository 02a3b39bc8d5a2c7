// SPDX-License-Identifier: Apache-2.0
//
// What a setting knows of its place and of its value, apart from the value's type: code that is
// generic would look the type up at each read, which costs many times the read.
//
// Threading: a read takes no lock. The place is set once. What is known of the value is replaced,
// and lives as long as a thread reads it: see `SharedReference`.

import KeepsakeDevice
import KeepsakeValues
import Synchronization

/// The place of a setting in a store, and what was last read there.
@usableFromInline
final class SettingSlot: Sendable {
  /// Where a setting is stored.
  final class Binding: Sendable {
    let backing: Backing
    /// What the keys of the members begin with, if there are `fields`.
    let key: String
    /// Of a value that is stored member by member.
    let fields: Fields?
    /// Of a class that is `Observable`.
    fileprivate let tracked: TrackedKey?

    init(backing: Backing, key: String, fields: Fields?) {
      (self.backing, self.key, self.fields) = (backing, key, fields)
      tracked = backing.tracking?.key(of: fields?.members.map(\.key) ?? [key])
    }
  }

  /// What a setting was worth in a state of its store.
  // Sendable: nothing in it changes, nor in its subclass.
  @usableFromInline
  class Known: @unchecked Sendable {
    fileprivate let state: StoreState

    fileprivate init(_ state: StoreState) { self.state = state }

    /// The same in another state.
    func copy(_ state: StoreState) -> Known { Known(state) }
  }

  /// The value, which never changes.
  // Sendable: as its superclass.
  @usableFromInline
  final class Kept<Value: Sendable>: Known, @unchecked Sendable {
    @usableFromInline let value: Value

    init(_ value: Value, _ state: StoreState) {
      self.value = value
      super.init(state)
    }

    override func copy(_ state: StoreState) -> Known { Kept(value, state) }
  }

  private let place = AtomicLazyReference<Binding>()
  /// Whether the class is `Observable`. To load the place would count the references to it, which
  /// threads would have to take turns for.
  private let isTracked = Atomic<Bool>(false)
  private let known = SharedReference<Known>()

  var binding: Binding? { place.load() }

  /// - Returns: false when there is a binding already.
  func bind(_ binding: Binding) -> Bool {
    guard place.storeIfNil(binding) === binding else { return false }
    isTracked.store(binding.tracked != nil, ordering: .releasing)
    return true
  }

  /// Tells those who track what is read that this is.
  func access() {
    if isTracked.load(ordering: .relaxed) { place.load()?.tracked?.access() }
  }

  /// What is known, on loan, if it is still what a read would give; nil also of a class that is
  /// `Observable`, which has to be told.
  ///
  /// It lets nothing go, and says so: the caller need not retain the setting to ask for its value,
  /// which threads that read one setting would have to take turns for.
  @inline(never) @_effects(releasenone) @usableFromInline
  func borrowUntracked() -> SharedReference<Known>.Loan? {
    isTracked.load(ordering: .relaxed) ? nil : borrow()
  }

  /// What is known, on loan, if it is still what a read would give.
  @inline(__always)
  func borrow() -> SharedReference<Known>.Loan? {
    guard let loan = known.borrow() else { return nil }
    if loan.object._withUnsafeGuaranteedRef({ $0.state.isCurrent }) { return loan }
    loan.giveBack()
    return nil
  }

  /// Makes what is known current, if nothing that this setting reads has changed since.
  ///
  /// - Returns: whether it did.
  func renew() -> Bool {
    guard let binding, let known = known.object,
      let (state, changed) = known.state.successor(),
      !changed.contains(where: { binding.reads($0) })
    else { return false }
    keep(known.copy(state))
    return true
  }

  /// - Parameter new: its state is from before the value was read: so it may be newer, and never
  ///   older.
  func keep(_ new: Known) { known.replace(by: new) }
}

extension SettingSlot.Binding {
  var keys: [String] { fields?.members.map(\.key) ?? [key] }

  fileprivate func reads(_ changed: ByteText) -> Bool {
    fields.map { $0.members.contains { changed == ByteText($0.key) } } ?? (changed == ByteText(key))
  }

  /// What is in force: of members, a dictionary of those that some layer has.
  ///
  /// - Parameter failing: is called for each member that its layer cannot give.
  func stored(
    failing: (SettingFailure) throws -> Void = { throw $0 }
  ) throws -> StoredValue? {
    try fields == nil ? backing.value(key) : form(of: backing.values(keys), failing: failing)
  }

  /// - Parameter found: one for each key.
  func form(
    of found: [Layers.Found], failing: (SettingFailure) throws -> Void
  ) throws -> StoredValue? {
    form(
      of: try zip(keys, found).map { key, found in
        switch found {
        case .success(let value): return value
        case .failure(let error):
          try failing(backing.failure(.read, error, key: key))
          return nil
        }
      })
  }

  /// Reports a member that cannot be read.
  func report(_ failure: SettingFailure) { backing.reportRead(failure.key, failure) }

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
