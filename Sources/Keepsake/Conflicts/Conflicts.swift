// SPDX-License-Identifier: Apache-2.0
//
// Conflicts of one store, for the application.

import Foundation
public import KeepsakeDevice
import KeepsakeValues

extension SettingsStore {
  /// The writes to this store that lost to a write made without knowledge of them, the oldest
  /// first. See `Device.conflicts(store:)` for which device logs them.
  ///
  /// - Throws: `KeepsakeError` when the file cannot be read.
  public var conflicts: [Conflict] {
    get throws(KeepsakeError) { try device.conflicts(store: storeName) }
  }

  /// Lets the application decide every conflict of this store: now those that are open, and later
  /// each when the merge that found it is over, until the result is released.
  ///
  /// `resolve` runs on a thread of its own, in a transaction which also notes that the conflict is
  /// resolved: of several processes one does it, once, and after a crash it is done again. What it
  /// throws, or what cannot be read, is reported in `failures`; that conflict and those after it
  /// stay open until the next commit, or until this is called again.
  ///
  ///     let token = settings.resolveConflicts { [settings] conflict in
  ///       guard let lost = try settings.$tags.lost(in: conflict) else { return }
  ///       settings.tags.formUnion(lost)
  ///     }
  ///
  /// - Parameter resolve: writes the store as ever, or nothing to leave the winner in force; it
  ///   cannot merge. Where the same closure runs on two devices it should come to the same value on
  ///   both.
  public func resolveConflicts(
    _ resolve: @escaping @Sendable (Conflict) throws -> Void
  ) -> ObservationToken {
    let resolver = ConflictResolver(backing, resolve)
    let token = backing.observe(nil) { _ in resolver.wake() }
    resolver.wake()
    return ObservationToken {
      token.cancel()
      resolver.end()
    }
  }
}

extension Setting {
  /// The value of this setting that lost a conflict; nil if the conflict is about another key, or a
  /// deletion lost. For a setting that is stored member by member: the present value with the lost
  /// member.
  ///
  /// - Throws: what `read()` throws for a value that is not of this type.
  public func lost(in conflict: Conflict) throws -> Value? {
    let bound = try bound()
    guard conflict.store.isSameBytes(as: bound.backing.store), let lost = conflict.lost else {
      return nil
    }
    guard let fields = bound.fields else {
      guard conflict.key.isSameBytes(as: bound.key) else { return nil }
      do {
        return try codec.decode(lost)
      } catch {
        throw bound.backing.failure(.read, error, key: bound.key, storedType: lost.kind)
      }
    }
    return try fields.members.first { conflict.key.isSameBytes(as: $0.key) }.map { member in
      var present = try bound.stored { _ in }?.members ?? [:]
      present[member.name] = lost
      return try value(of: present, fields, bound.backing) { failure in
        if failure.key.isSameBytes(as: member.key) { throw failure }
      }
    }
  }
}
