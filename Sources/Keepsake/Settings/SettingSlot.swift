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
    /// The setting's key, or the prefix of its members' keys if there is a `layout`.
    let key: String
    /// The members of a value that is stored member by member; nil for others.
    let layout: MemberLayout?
    /// Tracks reads; nil if the store's class is not `Observable`.
    fileprivate let tracked: TrackedKey?

    init(backing: Backing, key: String, layout: MemberLayout?) {
      (self.backing, self.key, self.layout) = (backing, key, layout)
      tracked = backing.tracking?.key(of: layout?.members.map(\.key) ?? [key])
    }
  }

  /// The value of a setting in a version of its store, without its type.
  // Sendable: nothing in it changes, nor in its subclass.
  @usableFromInline
  class CachedValue: @unchecked Sendable {
    fileprivate let version: StoreVersion

    fileprivate init(_ version: StoreVersion) { self.version = version }

    /// The same value, as read in another version.
    func copy(_ version: StoreVersion) -> CachedValue { CachedValue(version) }
  }

  // Sendable: as its superclass.
  @usableFromInline
  final class TypedValue<Value: Sendable>: CachedValue, @unchecked Sendable {
    @usableFromInline let value: Value

    init(_ value: Value, _ version: StoreVersion) {
      self.value = value
      super.init(version)
    }

    override func copy(_ version: StoreVersion) -> CachedValue { TypedValue(value, version) }
  }

  private let bound = AtomicLazyReference<Binding>()
  /// Whether the class is `Observable`. Loading the binding would retain it, for which threads
  /// would contend.
  private let isTracked = Atomic<Bool>(false)
  private let cached = SharedReference<CachedValue>()

  var binding: Binding? { bound.load() }

  /// - Returns: false if there is a binding already.
  func bind(_ binding: Binding) -> Bool {
    guard bound.storeIfNil(binding) === binding else { return false }
    isTracked.store(binding.tracked != nil, ordering: .releasing)
    return true
  }

  /// Notifies Swift's Observation of a read.
  func access() {
    if isTracked.load(ordering: .relaxed) { binding?.tracked?.access() }
  }

  /// Borrows the cached value if it is current. Nil also for a class that is `Observable`, whose
  /// reads have to be tracked.
  ///
  /// It releases nothing, and declares that: so the caller need not retain the setting, for which
  /// threads that read one setting would contend.
  @inline(never) @_effects(releasenone) @usableFromInline
  func borrowUntracked() -> SharedReference<CachedValue>.Borrowed? {
    isTracked.load(ordering: .relaxed) ? nil : borrow()
  }

  /// Borrows the cached value if it is current.
  @inline(__always)
  func borrow() -> SharedReference<CachedValue>.Borrowed? {
    guard let borrowed = cached.borrow() else { return nil }
    if borrowed.object._withUnsafeGuaranteedRef({ $0.version.isCurrent }) { return borrowed }
    borrowed.end()
    return nil
  }

  /// Makes the cached value current, if no key that this setting reads has changed since.
  ///
  /// - Returns: whether it is current now.
  func renew() -> Bool {
    guard let binding, let cached = cached.object,
      let (now, changed) = cached.version.changesSince(),
      !binding.keys.contains(where: { changed.contains(ByteText($0)) })
    else { return false }
    keep(cached.copy(now))
    return true
  }

  /// - Parameter new: its version was taken before the value was read, so the value may be newer
  ///   than the version, never older.
  func keep(_ new: CachedValue) { cached.replace(by: new) }
}

extension SettingSlot.Binding {
  var keys: [String] { layout?.members.map(\.key) ?? [key] }

  /// The value in force; a dictionary of the members that some layer has, if there is a `layout`.
  ///
  /// - Parameter failing: is called for each member that its layer cannot read.
  func stored(
    failing: (SettingFailure) throws -> Void = { throw $0 }
  ) throws -> StoredValue? {
    try layout == nil ? backing.value(key) : stored(in: backing.values(keys), failing: failing)
  }

  /// The same from the look-ups of all keys.
  func stored(
    in lookups: [Layers.Lookup], failing: (SettingFailure) throws -> Void
  ) throws -> StoredValue? {
    let values = try zip(keys, lookups).map { key, lookup -> StoredValue? in
      switch lookup {
      case .success(let value): return value
      case .failure(let error):
        try failing(SettingFailure(.read, error, store: backing.store, key: key))
        return nil
      }
    }
    guard let layout else { return values.first ?? nil }
    let found = zip(layout.members, values).compactMap { member, value in
      value.map { (member.name, $0) }
    }
    return found.isEmpty ? nil : .dictionary(Dictionary(uniqueKeysWithValues: found))
  }

  /// Reports a member that cannot be read.
  func report(_ failure: SettingFailure) { backing.reportReadFailure(failure, of: failure.key) }

  /// Removes what is stored under the keys, as one step.
  func reset() throws {
    guard layout != nil else { return try backing.set(nil, for: key) }
    try backing.transaction {
      for key in keys { try backing.set(nil, for: key) }
    }
  }
}

/// An immutable value in an object of its own.
final class Box<Value: Sendable>: Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
