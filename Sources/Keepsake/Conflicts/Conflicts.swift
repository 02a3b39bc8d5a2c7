// SPDX-License-Identifier: Apache-2.0
//
// Conflicts of one store, for the application.

import Dispatch
public import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import Synchronization

extension SettingsStore {
  /// The unresolved conflicts of this store, the oldest first: writes that lost to a concurrent
  /// write. See `Device.conflicts(store:)` for which device logs them.
  ///
  /// - Throws: `KeepsakeError` if the file cannot be read.
  public var conflicts: [Conflict] {
    get throws(KeepsakeError) { try device.conflicts(store: storeName) }
  }

  /// Calls `resolve` for each conflict of this store, until the result is released: now for the
  /// open ones, and later for each new one, after the merge that found it.
  ///
  /// `resolve` runs on a thread of its own, in a transaction that also marks the conflict as
  /// resolved. If several processes call this, one of them resolves a conflict; after a crash it is
  /// resolved again. An error, also of `resolve`, is reported in `failures`; then this conflict and
  /// the later ones stay open until the next commit, or until this is called again.
  ///
  ///     let token = settings.resolveConflicts { [settings] conflict in
  ///       guard let lost = try settings.$tags.lost(in: conflict) else { return }
  ///       settings.tags.formUnion(lost)
  ///     }
  ///
  /// - Parameter resolve: may write to the store; if it writes nothing, the winner stays in force.
  ///   It cannot merge. If the same closure runs on two devices, it should write the same value on
  ///   both.
  public func resolveConflicts(
    _ resolve: @escaping @Sendable (Conflict) throws -> Void
  ) -> ObservationToken {
    let resolver = ConflictResolver(backing, resolve)
    let token = backing.observers.add(nil) { _ in resolver.wake() }
    resolver.wake()
    return ObservationToken {
      token.cancel()
      resolver.end()
    }
  }
}

/// Calls an application's resolver for open conflicts, on a thread of its own, when no merge is
/// under way in this process.
private final class ConflictResolver: Sendable {
  /// The resolver has ended.
  private struct Ended: Error {}

  private let backing: Backing
  private let resolve: @Sendable (Conflict) throws -> Void
  private let hasEnded = Mutex(false)
  private let queue = DispatchQueue(label: "keepsake.conflicts", qos: .utility)

  init(_ backing: Backing, _ resolve: @escaping @Sendable (Conflict) throws -> Void) {
    self.backing = backing
    self.resolve = resolve
  }

  func end() { hasEnded.withLock { $0 = true } }

  /// Resolves the open conflicts on the resolver's queue.
  func wake() {
    let pending = backing.device.shared.pending
    pending.enter()
    queue.async { [self] in
      defer { pending.leave() }
      Lease.waitUntilOver()
      do {
        try checkEnd()
        _ = try backing.device.resolveConflicts(store: backing.store) { conflict in
          try checkEnd()
          try resolve(conflict)
        }
      } catch is Ended {
      } catch {
        // Wraps a `SettingFailure` too: the operation that failed is the conflict's.
        let failure = SettingFailure(.resolve, error, store: backing.store)
        backing.failures.report(.resolve, failure)
      }
    }
  }

  private func checkEnd() throws { if hasEnded.withLock({ $0 }) { throw Ended() } }
}

extension Setting {
  /// The value of this setting that lost a conflict; nil if the conflict has another key, or if a
  /// deletion lost. For a setting that is stored member by member: the present value with the lost
  /// member.
  ///
  /// - Throws: as `read()` for a value that is not of this type.
  public func lost(in conflict: Conflict) throws -> Value? {
    let bound = try bound()
    guard conflict.store.isSameBytes(as: bound.backing.store), let lost = conflict.lost else {
      return nil
    }
    guard let layout = bound.layout else {
      guard conflict.key.isSameBytes(as: bound.key) else { return nil }
      do {
        return try codec.decode(lost)
      } catch {
        throw SettingFailure(
          .read, error, store: bound.backing.store, key: bound.key, storedType: lost.kind)
      }
    }
    return try layout.members.first { conflict.key.isSameBytes(as: $0.key) }.map { member in
      var present = try bound.stored { _ in }?.members ?? [:]
      present[member.name] = lost
      return try value(of: present, in: layout, backing: bound.backing) { failure in
        if failure.key.isSameBytes(as: member.key) { throw failure }
      }
    }
  }
}
