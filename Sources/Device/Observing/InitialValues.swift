// SPDX-License-Identifier: Apache-2.0
//
// An observer gets the old value of each change, so the values of its scope have to be read before
// another process changes them. The observers' thread reads those of a large scope, from a snapshot
// of the moment when the observer was added; so adding one takes the same time at any size. If
// another process commits meanwhile, its changes wait until the values are read.

import KeepsakeStorage
import KeepsakeValues
import Synchronization

/// The values of a scope when its observer was added.
final class InitialValues: Sendable {
  private enum State {
    case snapshot(Snapshot)
    case values([Address: TaggedCell])
  }

  let scope: Scope
  private let state: Mutex<State>
  private let isCancelled = Atomic(false)

  init(_ scope: Scope, _ snapshot: Snapshot) {
    self.scope = scope
    state = Mutex(.snapshot(snapshot))
  }

  /// Reads the values unless that was done; waits while another thread reads them.
  func read() throws { try state.withLock { try read(&$0) } }

  /// The values, which are read now unless they have been; none after `cancel`. Once only.
  func take() throws -> [Address: TaggedCell] {
    try state.withLock { state in
      try read(&state)
      guard case .values(let values) = state else { return [:] }
      state = .values([:])
      return values
    }
  }

  /// Ends the reading, also that of another thread.
  func cancel() { isCancelled.store(true, ordering: .relaxed) }

  private func read(_ state: inout State) throws {
    guard case .snapshot(let snapshot) = state else { return }
    var values: [Address: TaggedCell] = [:]
    do {
      try snapshot.read { connection in
        try connection.forEachEntry(in: scope) { entry in
          if isCancelled.load(ordering: .relaxed) { throw CancellationError() }
          values[entry.address] = entry.content.ifValue
        }
      }
    } catch is CancellationError {
      values = [:]
    }
    state = .values(values)
  }
}

extension Connection {
  /// Whether reading a scope may take longer than making another connection.
  func isLarge(_ scope: Scope) throws -> Bool {
    let most = 250
    switch (scope.store, scope.keys.kind) {
    case (_, .keys(let keys)): return keys.count > most
    case (let store?, .prefix(let prefix)):
      return try first(
        "SELECT 1 FROM entry WHERE store = ?1 AND key >= ?2 LIMIT 1 OFFSET \(most)",
        [.text(store.string), .text(prefix.string)]
      ) { _ in true } ?? false
    case (nil, .prefix):
      return try first("SELECT 1 FROM entry LIMIT 1 OFFSET \(most)") { _ in true } ?? false
    }
  }
}
