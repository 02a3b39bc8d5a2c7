// SPDX-License-Identifier: Apache-2.0
//
// A set, and the sets of other threads that share its commit; see `SetQueue`. Each of them is a
// step of its own: the observers get a change set for each, and one that is refused is refused
// alone. No code of an application runs while a thread sets for others.

import Dispatch
import KeepsakeStorage
import KeepsakeValues

extension Core {
  private typealias Made = (set: QueuedSet, result: Result<[SettingChange], KeepsakeError>)

  /// Makes one write; durable when it returns. Within a transaction of this thread it joins that.
  ///
  /// - Parameter limit: how long to wait for other threads and for other processes together; nil
  ///   for as long as the device does.
  func set(
    _ write: LocalWrite, _ clock: WallClock, _ durability: Durability, waiting limit: Duration?
  ) throws(KeepsakeError) -> [SettingChange] {
    guard !isReadOnly, !storage.isMine else {
      // A single write happens or not: no savepoint is needed to take half of it back.
      return try self.write(durability, savepoint: false, waiting: limit) { connection, session in
        let count = session.changes.count
        try session.add(write, connection, at: clock.milliseconds)
        return Array(session.changes[count...])
      }
    }
    // A child that fork has made lacks the threads that would wake it.
    guard storage.origin.isThisProcess else { throw .inherited(location.path) }
    let deadline = limit.map { DispatchTime.now() + $0.seconds }
    let set = QueuedSet(write, at: write.wallClock ?? clock.milliseconds, durability)
    var isAlone = false
    if !sets.tryToLead() {
      switch sets.wait(set, until: deadline) {
      case .made(let result):
        shared.tellObservers()
        return try result.get()
      case .late: throw storage.isTaken
      case .leads(let alone): isAlone = alone
      }
    }
    defer { shared.tellObservers() }
    let own = lead(set, isAlone, until: deadline)
    storage.checkpoints?.runIfDue()
    return try own.get()
  }

  /// Makes a set, and those that wait. Lets the next thread lead when it returns.
  private func lead(
    _ set: QueuedSet, _ isAlone: Bool, until deadline: DispatchTime?
  ) -> Result<[SettingChange], KeepsakeError> {
    var others: [Made] = []
    var own: [SettingChange] = []
    var isBroken = false
    let failure: KeepsakeError?
    do throws(KeepsakeError) {
      try begin(set.durability, until: deadline) { connection, session in
        own = try session.step(set, connection, shared.feed.observers)
        if isAlone { return }
        do {
          try makeOthers(set.durability, connection, session, &others)
        } catch {
          isBroken = true
          throw error
        }
      }
      failure = nil
    } catch {
      failure = error
    }
    if isBroken {
      sets.putBack(others.map(\.set))
      return lead(set, true, until: deadline)
    }
    // What was refused was measured against what has not come to be.
    if let failure { others = others.map { ($0.set, .failure(failure)) } }
    sets.finish(others)
    return failure.map { .failure($0) } ?? .success(own)
  }

  /// - Throws: when one has failed in a way that may concern all. `made` has all that were taken.
  private func makeOthers(
    _ durability: Durability, _ connection: Connection, _ session: WriteSession,
    _ made: inout [Made]
  ) throws {
    let most = SetQueue.most - 1
    while made.count < most {
      let taken = sets.take(most - made.count, durability)
      if taken.isEmpty { return }
      let start = made.count
      // Whatever happens to one of them, none is forgotten.
      made += taken.map { ($0, .success([])) }
      for (number, set) in taken.enumerated() {
        let written = connection.totalChanges
        do {
          let changes = try session.step(set, connection, shared.feed.observers)
          made[start + number].result = .success(changes)
        } catch {
          let refusal = KeepsakeError(error, path: location.path)
          guard refusal.isOfTheWrite, connection.totalChanges == written else { throw error }
          made[start + number].result = .failure(refusal)
        }
      }
    }
  }

  /// Begins a transaction for what `body` does, and commits it.
  private func begin(
    _ durability: Durability, until deadline: DispatchTime?,
    _ body: (Connection, WriteSession) throws -> Void
  ) throws(KeepsakeError) {
    try storage.access(waiting: deadline.map(\.fromNow)) { connection in
      try commit(connection, durability, waiting: deadline.map(\.fromNow), body)
    }
  }
}

extension DispatchTime {
  /// How long it is until then; zero when it has been.
  fileprivate var fromNow: Duration {
    let (now, then) = (DispatchTime.now().uptimeNanoseconds, uptimeNanoseconds)
    return .nanoseconds(then > now ? then - now : 0)
  }
}

extension KeepsakeError {
  /// Whether it says that one write is not acceptable, and nothing about the file.
  fileprivate var isOfTheWrite: Bool {
    [.quotaExceeded, .invalidKey, .invalidValue].contains(code)
  }
}
