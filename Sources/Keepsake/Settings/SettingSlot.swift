// SPDX-License-Identifier: Apache-2.0
//
// A setting's binding and cached value, without the value's type: generic code would look the type
// up at each read, which costs many times the read.
//
// Threading: a read takes no lock. The binding is set once. A cached value is replaced, and lives
// as long as a thread reads it: see `SharedReference`.

import KeepsakeDevice
import KeepsakeValues
import Synchronization

/// The binding of a setting to a store, and the value that was last read.
@usableFromInline
final class SettingSlot: Sendable {
  /// The store and the keys of a setting.
  final class Binding: Sendable {
    let backing: Backing
    /// The setting's key, or the prefix of its members' keys if there are `fields`.
    let key: String
    /// The members of a value that is stored member by member; nil for others.
    let fields: Fields?
    /// Tracks reads; nil if the store's class is not `Observable`.
    fileprivate let tracked: TrackedKey?

    init(backing: Backing, key: String, fields: Fields?) {
      (self.backing, self.key, self.fields) = (backing, key, fields)
      tracked = backing.tracking?.key(of: fields?.members.map(\.key) ?? [key])
    }
  }

  /// The value of a setting in a state of its store, without its type.
  // Sendable: nothing in it changes, nor in its subclass.
  @usableFromInline
  class Known: @unchecked Sendable {
    fileprivate let state: StoreState

    fileprivate init(_ state: StoreState) { self.state = state }

    /// The same value, as read in another state.
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
  /// Whether the class is `Observable`. Loading the binding would retain it, for which threads
  /// would contend.
  private let isTracked = Atomic<Bool>(false)
  private let known = SharedReference<Known>()

  var binding: Binding? { place.load() }

  /// - Returns: false when there is a binding already.
  func bind(_ binding: Binding) -> Bool {
    guard place.storeIfNil(binding) === binding else { return false }
    isTracked.store(binding.tracked != nil, ordering: .releasing)
    return true
  }

  /// Notifies Swift's Observation of a read.
  func access() {
    if isTracked.load(ordering: .relaxed) { place.load()?.tracked?.access() }
  }

  /// A loan of the cached value if it is current; nil also for a class that is `Observable`, whose
  /// reads have to be tracked.
  ///
  /// It releases nothing, and declares that: so the caller need not retain the setting, for which
  /// threads that read one setting would contend.
  @inline(never) @_effects(releasenone) @usableFromInline
  func borrowUntracked() -> SharedReference<Known>.Loan? {
    isTracked.load(ordering: .relaxed) ? nil : borrow()
  }

  /// A loan of the cached value if it is current.
  @inline(__always)
  func borrow() -> SharedReference<Known>.Loan? {
    guard let loan = known.borrow() else { return nil }
    if loan.object._withUnsafeGuaranteedRef({ $0.state.isCurrent }) { return loan }
    loan.giveBack()
    return nil
  }

  /// Makes the cached value current, if no key that this setting reads has changed since.
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

  /// - Parameter new: its state was taken before the value was read, so the value may be newer than
  ///   the state, never older.
  func keep(_ new: Known) { known.replace(by: new) }
}

extension SettingSlot.Binding {
  var keys: [String] { fields?.members.map(\.key) ?? [key] }

  fileprivate func reads(_ changed: ByteText) -> Bool {
    fields.map { $0.members.contains { changed == ByteText($0.key) } } ?? (changed == ByteText(key))
  }

  /// The value in force; a dictionary of the members that some layer has, if there are `fields`.
  ///
  /// - Parameter failing: is called for each member that its layer cannot read.
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

/// An immutable value in an object of its own.
final class Box<Value: Sendable>: Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
