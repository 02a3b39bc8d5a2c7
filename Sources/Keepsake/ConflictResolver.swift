// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeepsakeDevice
import KeepsakeSync
import Synchronization

/// The conflicts that a store's device has logged since the last look.
final class ConflictNews: Sendable {
  private let backing: Backing
  /// The last conflict that was notified; nil if it could not be read.
  private let last = Mutex<Int64?>(nil)

  init(_ backing: Backing) {
    self.backing = backing
    _ = take()
  }

  func take() -> [Conflict] {
    let device = backing.device
    do throws(KeepsakeError) {
      let newest = try device.lastConflict()
      let before = last.withLock { $0 }
      guard newest != before else { return [] }
      let found = try before.map { before throws(KeepsakeError) in
        try device.conflicts(store: backing.store, after: before)
      }
      last.withLock { $0 = newest }
      return found ?? []
    } catch {
      backing.report(.observe, error)
      return []
    }
  }
}

/// Lets an application decide conflicts, on a thread of its own, when no exchange is under way in
/// this process.
final class ConflictResolver: Sendable {
  /// The resolver has ended.
  private struct Ended: Error {}

  /// What could not be resolved here since the device was last written: two resolvers that fail
  /// would take it from each other for ever, but after a write either may succeed.
  private struct Failed {
    var identities: Set<[Cell]> = []
    var lastWrite: Int64 = 0
  }

  private let backing: Backing
  private let resolve: @Sendable (Conflict) throws -> Void
  private let hasEnded = Mutex(false)
  private let failed = Mutex(Failed())
  private let queue = DispatchQueue(label: "keepsake.conflicts", qos: .utility)

  init(_ backing: Backing, _ resolve: @escaping @Sendable (Conflict) throws -> Void) {
    self.backing = backing
    self.resolve = resolve
  }

  func end() { hasEnded.withLock { $0 = true } }

  /// Looks whether a session of the store's device brings anything to resolve. One of other devices
  /// would only repeat what has failed here.
  func wake(ifOn devices: [Device]) {
    let shared = backing.device.core.shared
    if devices.contains(where: { $0.core.shared === shared }) { wake() }
  }

  /// Looks whether there is anything to resolve.
  func wake() {
    let pending = backing.device.core.shared.pending
    pending.begin()
    queue.async { [self] in
      defer { pending.end() }
      Lease.waitUntilOver()
      guard !hasEnded.withLock({ $0 }) else { return }
      do {
        try look()
      } catch is Ended {
      } catch {
        // Also what a setting says of itself: it is the conflict that stays open.
        backing.failures.report(backing.failure(.resolve, error))
      }
    }
  }

  /// Resolves all that is open here, then all that is open on the devices that this one is in a
  /// session with, one after the other: what comes may push what is here out of the log, and a
  /// device that cannot give is no reason to leave the others.
  private func look() throws {
    let device = backing.device
    let lastWrite = try device.lastWrite()
    failed.withLock { if $0.lastWrite != lastWrite { $0 = Failed(lastWrite: lastWrite) } }
    try resolveAll()
    var failure: KeepsakeError?
    for partner in device.partners {
      do throws(KeepsakeError) {
        let failed = failed.withLock { $0.identities }
        try device.takeConflicts(store: backing.store, from: partner, except: failed)
      } catch {
        failure = failure ?? error
      }
      try resolveAll()
    }
    if let failure { throw failure }
  }

  private func resolveAll() throws {
    _ = try backing.device.resolveConflicts(store: backing.store) { conflict in
      guard !hasEnded.withLock({ $0 }) else { throw Ended() }
      do {
        try resolve(conflict)
      } catch {
        failed.withLock { _ = $0.identities.insert(conflict.identity) }
        throw error
      }
    }
  }
}
