// SPDX-License-Identifier: Apache-2.0

package import Dispatch
import KeepsakeStorage
import Synchronization

/// What all cores on one file share within a process, however each was opened. It is in memory, and
/// goes with the last of them.
package final class SharedState: Sendable {
  let feed = Feed()
  /// Defaults that the process registered with the device.
  package let registered: RegisteredDefaults
  package let layers = LayerVersion()
  package let trail = CommitTrail()
  package let inPlaceChanges = InPlaceChangeLock()
  /// Gets the failures of upkeep, which no caller waits for.
  package let upkeep = Handlers<KeepsakeError>()
  let activities = Handlers<Activity>()
  /// Work that runs on other threads after a commit, such as the resolving of conflicts, so that a
  /// test can wait for it.
  package let pending = DispatchGroup()
  /// Reports of transactions that are over, not yet delivered.
  private let reports = Mutex<[@Sendable () -> Void]>([])
  /// Whether `reports` may have any.
  private let hasReports = Atomic(false)

  /// After a change set was put into the queue with a lock held: at once, or when this thread's
  /// leases and its turn to change a value in place are over.
  package func tellObservers() {
    // Most often there is nothing to tell, and threads that set at once would wait for each other.
    guard hasReports.load(ordering: .acquiring) || feed.observers.havePending else { return }
    Lease.afterwards(self) { [self] in
      // The thread that ends its turn notifies them.
      guard !inPlaceChanges.isWriting else { return }
      for report in takeReports() { report() }
      feed.observers.deliver()
    }
  }

  /// What `tellObservers` calls first, of transactions that are over.
  func note(_ new: inout [@Sendable () -> Void]) {
    guard !new.isEmpty else { return }
    reports.withLock { all in
      all += new
      hasReports.store(true, ordering: .releasing)
    }
    new = []
  }

  private func takeReports() -> [@Sendable () -> Void] {
    reports.withLock { reports in
      defer { reports = [] }
      hasReports.store(false, ordering: .relaxed)
      return reports
    }
  }

  /// For tests: calls `body` while no thread reads what other processes have changed.
  package func whileNothingIsRead(_ body: () throws -> Void) rethrows {
    try feed.looking.withLock { _ in try body() }
  }

  /// For tests: called when the thread that watches other processes begins a check.
  package var checks: Handlers<Void> { feed.checks }

  init() { registered = RegisteredDefaults(layers) }
}
