// SPDX-License-Identifier: Apache-2.0
//
// A set, and the sets of other threads that share its commit; see `SetQueue`. Each of them is a
// step of its own: the observers get a change set for each, and one that is refused is refused
// alone. No code of an application runs while a thread sets for others.

import Dispatch
import KeepsakeStorage
import KeepsakeValues

extension Core {
  /// Makes one write; durable when it returns. Within a transaction of this thread it joins that.
  ///
  /// - Parameter limit: how long to wait for other threads and for other processes together; nil
  ///   for as long as the device does.
  func set(
    _ write: LocalWrite, _ clock: WallClock, _ durability: Durability, waiting limit: Duration?
  ) throws(KeepsakeError) -> [SettingChange] {
    guard !isReadOnly, !storage.isMine, !storage.isReadingAside else {
      // A single write happens or not: no savepoint is needed to take half of it back.
      return try self.write(durability, savepoint: false, waiting: limit) { connection, session in
        let count = session.changes.count
        try session.add(write, connection, at: clock.milliseconds)
        return Array(session.changes[count...])
      }
    }
    let deadline = limit.map(DispatchTime.init(after:))
    let set = QueuedSet(write, at: write.wallClock ?? clock.milliseconds, durability)
    if !sets.tryToLead() {
      switch sets.wait(set, until: deadline) {
      case .made(let result):
        shared.tellObservers()
        return try result.get()
      case .late: throw storage.isTaken
      case .leads: break
      }
    }
    defer { shared.tellObservers() }
    lead(set, until: deadline)
    storage.checkpoints?.runIfDue()
    return try set.result.get()
  }

  /// Makes a set, and those that wait. Lets the next thread lead when it returns.
  private func lead(_ own: QueuedSet, until deadline: DispatchTime?) {
    sets.gather()
    // Gets all that were taken, whatever happens: none is forgotten.
    var others: [QueuedSet] = []
    do throws(KeepsakeError) {
      try storage.access(waiting: deadline.map(\.fromNow)) { connection in
        guard !connection.isInTransaction else { throw connection.isLeftOpen }
        let limit = deadline.map(\.fromNow)
        try commit(connection, own.durability, waiting: limit) { connection, session in
          try make(own, connection, session)
          while case let taken = sets.take(SetQueue.most - 1 - others.count, own.durability),
            !taken.isEmpty
          {
            others += taken
            for set in taken { try make(set, connection, session) }
          }
        }
      }
    } catch {
      for set in others { set.result = .failure(error) }
      own.result = .failure(error)
    }
    sets.finish(others)
  }

  /// Makes one set; one that is refused fails alone.
  ///
  /// - Throws: when it has failed in a way that may concern all; then all of them fail.
  private func make(
    _ set: QueuedSet, _ connection: Connection, _ session: WriteSession
  ) throws {
    let written = connection.totalChanges
    do {
      set.result = .success(try session.step(set, connection, shared.feed.observers))
    } catch {
      let refusal = KeepsakeError(error, path: storage.location.path)
      guard refusal.isOfTheWrite, connection.totalChanges == written else { throw error }
      set.result = .failure(refusal)
    }
  }
}

extension Connection {
  /// The error if a transaction is open that no thread is in: a write would become a savepoint in
  /// it, and would not be durable when it returns.
  var isLeftOpen: KeepsakeError {
    KeepsakeError(
      .inputOutput, path: path, "a transaction that failed is still open",
      cure: "close the device and open it anew")
  }
}

extension Core {
  /// The error if this thread reads a snapshot, in which it cannot write: it has no session, and
  /// its end is no commit.
  var isOnlyRead: KeepsakeError {
    KeepsakeError(
      .locked, path: storage.location.path, "the settings are being read at one moment",
      cure: "write when the reading has ended")
  }
}

extension DispatchTime {
  init(after duration: Duration) { self = .now() + duration / .seconds(1) }

  /// How long it is until then; zero when it has been.
  var fromNow: Duration {
    let (now, then) = (DispatchTime.now().uptimeNanoseconds, uptimeNanoseconds)
    return .nanoseconds(then > now ? then - now : 0)
  }
}

extension KeepsakeError {
  /// Whether it says that one write is not acceptable, and nothing about the file.
  fileprivate var isOfTheWrite: Bool {
    [.invalidKey, .invalidValue].contains(code)
  }
}
