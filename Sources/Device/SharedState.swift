// SPDX-License-Identifier: Apache-2.0

/// What all cores on one file share within a process, however each was opened. It is in memory, and
/// goes with the last of them.
package final class SharedState: Sendable {
  let feed = Feed()
  /// Defaults that the process registered with the device.
  package let registered: RegisteredDefaults
  let layers = LayerVersion()

  /// After a change set was put into the queue with a lock held.
  package func tellObservers() { feed.observers.deliver() }

  init() { registered = RegisteredDefaults(layers) }
}
