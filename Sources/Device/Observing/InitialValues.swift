// SPDX-License-Identifier: Apache-2.0
//
// An observer gets the old value of each change, so the values of its scope have to be read before
// another process changes them. Those of a large scope are read in the background, from a snapshot
// of the moment when the observer was added; so adding one takes the same time at any size. If
// another process commits meanwhile, all observers of the file get its changes when the values are
// read.

import KeepsakeStorage
import KeepsakeValues
import Synchronization

/// The values of a scope when its observer was added.
final class InitialValues: Sendable {
  private enum Progress {
    case unread(Snapshot)
    case read([Address: TaggedCell])
  }

  let scope: Scope
  private let progress: Mutex<Progress>
  /// The reading ends when there are none any more.
  private let observers: Observers

  private let isEnded = Atomic(false)

  init(_ scope: Scope, _ snapshot: Snapshot, for observers: Observers) {
    (self.scope, self.observers) = (scope, observers)
    progress = Mutex(.unread(snapshot))
  }

  /// Reads the values unless that was done; waits while another thread reads them. When the last
  /// observer is removed meanwhile, they stay unread.
  func read() throws { try progress.withLock { try read(&$0) } }

  /// Whether the values are read; false as well while another thread is reading them.
  var isRead: Bool {
    progress.withLockIfAvailable { if case .read = $0 { true } else { false } } ?? false
  }

  /// The values, which are read now unless they have been. Once only.
  ///
  /// - Throws: also if the last observer is removed meanwhile.
  func take() throws -> [Address: TaggedCell] {
    try progress.withLock { progress in
      try read(&progress)
      switch progress {
      case .read(let values):
        progress = .read([:])
        return values
      case .unread(let snapshot):
        throw KeepsakeError(
          .locked, path: snapshot.path,
          "the values of an observer's keys were not read before they changed",
          cure: "read them again")
      }
    }
  }

  /// Ends the reading, also that of another thread: the values are not needed any more.
  func end() { isEnded.store(true, ordering: .relaxed) }

  private func read(_ progress: inout Progress) throws {
    guard case .unread(let snapshot) = progress else { return }
    var values: [Address: TaggedCell] = [:]
    do {
      try snapshot.read { connection in
        try connection.forEachEntry(in: scope) {
          if isEnded.load(ordering: .relaxed) || observers.isEmpty { throw HasEnded() }
        } body: { entry in
          values[entry.address] = entry.content.ifValue
        }
      }
      progress = .read(values)
    } catch is HasEnded {
    }
  }

  private struct HasEnded: Error {}
}

extension Connection {
  /// Whether reading a scope may take longer than making another connection.
  func isLarge(_ scope: Scope) throws -> Bool {
    let most = 250
    switch (scope.store, scope.keys.kind) {
    case (nil, _):
      return try first("SELECT 1 FROM entry LIMIT 1 OFFSET \(most)") { _ in true } ?? false
    case (_, .keys(let keys)): return keys.count > most
    case (let store?, .prefix(let prefix)):
      return try first(
        "SELECT 1 FROM entry WHERE store = ?1 AND key >= ?2 LIMIT 1 OFFSET \(most)",
        [.text(store.string), .text(prefix.string)]
      ) { _ in true } ?? false
    }
  }
}
