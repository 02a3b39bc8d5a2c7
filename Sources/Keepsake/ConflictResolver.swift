// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeepsakeDevice
import KeepsakeSync
import Synchronization

/// What has come to the journal of a store's device since somebody last asked.
final class ConflictNews: Sendable {
  private struct State {
    weak var core: Core?
    /// The last conflict that was told.
    var last: Int64 = 0
  }

  private let backing: Backing
  private let state = Mutex(State())

  init(_ backing: Backing) {
    self.backing = backing
    _ = take()
  }

  /// What was found on the device that the store is on; nothing when it has just moved there.
  func take() -> [Conflict] {
    let device = backing.device
    do throws(KeepsakeError) {
      let newest = try device.lastConflict()
      let last: Int64? = state.withLock { $0.core === device.core ? $0.last : nil }
      guard newest != last else { return [] }
      let found = try last.map { last throws(KeepsakeError) in
        try device.conflicts(store: backing.store, after: last)
      }
      state.withLock { $0 = State(core: device.core, last: newest) }
      return found ?? []
    } catch {
      backing.report(.observe, error)
      return []
    }
  }
}

/// Lets an application decide conflicts, on a thread of its own, when no meeting is under way in
/// this process.
final class ConflictResolver: Sendable {
  private struct State {
    weak var core: Core?
    /// The last conflict that there was when all were resolved; nil when some may be open.
    var last: Int64?
    /// The last conflict of each device in a session with this one when all were taken over.
    var taken: [ObjectIdentifier: Int64] = [:]
    var hasEnded = false
  }

  private let backing: Backing
  private let resolve: @Sendable (Conflict) throws -> Void
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "keepsake.conflicts", qos: .utility)

  init(_ backing: Backing, _ resolve: @escaping @Sendable (Conflict) throws -> Void) {
    self.backing = backing
    self.resolve = resolve
  }

  func end() { state.withLock { $0.hasEnded = true } }

  /// Looks whether there is anything to resolve.
  func wake() {
    queue.async { [self] in
      Lease.waitUntilOver()
      guard !state.withLock({ $0.hasEnded }) else { return }
      do {
        try look(backing.device)
      } catch is CancellationError {
        // The session has ended, or the store is on another device, whose commits wake it again.
      } catch {
        // Also what a setting says of itself: it is the conflict that stays open.
        backing.failures.report(backing.failure(.resolve, error))
      }
    }
  }

  /// Takes over what is open on the devices that this one is in a session with.
  private func take(_ device: Device) throws {
    for partner in device.partners {
      let (id, newest) = (ObjectIdentifier(partner.core), try partner.lastConflict())
      guard state.withLock({ $0.core !== device.core || $0.taken[id] != newest }) else { continue }
      try device.takeConflicts(store: backing.store, from: partner)
      state.withLock { $0.taken[id] = newest }
    }
  }

  private func look(_ device: Device) throws {
    try take(device)
    let newest = try device.lastConflict()
    guard state.withLock({ $0.core !== device.core || $0.last != newest }) else { return }
    state.withLock { state in
      if state.core !== device.core { state.taken = [:] }
      (state.core, state.last) = (device.core, nil)
    }
    _ = try device.resolveConflicts(store: backing.store) { conflict in
      // Within the transaction of this device, which the store cannot leave meanwhile.
      let isHere = backing.device.core === device.core
      guard isHere, !state.withLock({ $0.hasEnded }) else { throw CancellationError() }
      try resolve(conflict)
    }
    state.withLock { $0.last = newest }
  }
}
