// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeepsakeDevice
import KeepsakeSync
import Synchronization

/// Lets an application decide conflicts, on a thread of its own, when no merge is under way in
/// this process.
final class ConflictResolver: Sendable {
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
    let pending = backing.device.core.shared.pending
    pending.begin()
    queue.async { [self] in
      defer { pending.end() }
      Lease.waitUntilOver()
      guard !hasEnded.withLock({ $0 }) else { return }
      do {
        try resolveAll()
      } catch is Ended {
      } catch {
        // Wraps a `SettingFailure` too: the operation that failed is the conflict's.
        backing.failures.report(backing.failure(.resolve, error))
      }
    }
  }

  private func resolveAll() throws {
    _ = try backing.device.resolveConflicts(store: backing.store) { conflict in
      guard !hasEnded.withLock({ $0 }) else { throw Ended() }
      try resolve(conflict)
    }
  }
}
