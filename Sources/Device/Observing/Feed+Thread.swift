// SPDX-License-Identifier: Apache-2.0
//
// The thread that waits for commits of other processes.

import Foundation
import KeepsakeStorage
import Synchronization

extension Feed {
  func start(_ location: Location) -> FileEvents {
    let events = FileEvents(path: location.realPath)
    let thread = Thread { [self] in
      var known: UInt32?
      // Until the next look at what may be under way; nil when nothing is.
      var pause: Int32?
      var lastCheck = ContinuousClock.now
      while true {
        switch events.wait(timeout: pause ?? 500) {
        case .cancelled: return
        case .event: pause = follow(events, from: &known)
        case .timeout:
          // Without events each commit is found in this way.
          let isThere = (pause != nil || events.isBlind) && takeIn(&known)
          // After twice the time: what takes long is found in time, with little work.
          pause = pause.flatMap { isThere || $0 >= 200 ? nil : 2 * $0 }
        }
        // Also when a file that has replaced ours is written to without a pause.
        guard lastCheck.duration(to: .now) > .milliseconds(400) else { continue }
        with { try check($0) }
        lastCheck = .now
      }
    }
    thread.name = "keepsake.feed"
    thread.start()
    return events
  }

  /// A write to the log shows in the index only when its transaction has committed: microseconds
  /// later, which are not worth a sleep, or as much as a disk takes to flush.
  ///
  /// - Parameter known: the file's commit count when a commit was last taken in.
  /// - Returns: the milliseconds until the next look; nil if no commit is under way.
  private func follow(_ events: FileEvents, from known: inout UInt32?) -> Int32? {
    // This may be an earlier commit, while the one that has caused the event is being written.
    if takeIn(&known) { return 1 }
    let start = ContinuousClock.now
    with { storage in if let known { storage.versions.wait(for: known) } }
    while !takeIn(&known) {
      guard start.duration(to: .now) < .milliseconds(2) else { return 2 }
      usleep(20)
    }
    // The same commit has caused these events, but another may have begun.
    return events.takeAll() ? 1 : nil
  }

  /// Reads the commits since the last look, of any process.
  ///
  /// - Returns: whether anything was.
  private func takeIn(_ known: inout UInt32?) -> Bool {
    var isThere = false
    with { storage in
      let versions = storage.versions
      // The index changes before a transaction of ours is over; `didWrite` announces that one.
      guard !versions.isWriting, versions.commits != known || mayBeBehind(versions) else {
        return
      }
      let commits = versions.commits
      isThere = try look(storage) || commits != known
      known = commits
    }
    return isThere
  }

  /// Reads what `Contents` has to know, while nothing is locked that a write needs.
  func readInitialValues() {
    withoutDelivering { _ in
      var failure: (any Error)?
      // Without the state's lock, so that writes go on.
      while let values = state.withLock({ $0.contents.initial.values.first }) {
        let result = Result { try values.read() }
        state.withLock { state in
          // Otherwise they are not needed any more.
          guard state.contents.initial.values.contains(where: { $0 === values }) else { return }
          if let error = result.failure {
            failure = failure ?? error
            return state.contents.forgetValues()
          }
          let taken = Result { try state.contents.takeInitial(waits: false) }
          failure = failure ?? taken.failure
        }
      }
      if let failure { throw failure }
    }
  }

  private func check(_ storage: Storage) throws {
    checks.notify(())
    let isChecked: Void? = try storage.accessInTime(waiting: Self.timeLimit) {
      try $0.refuseMovedFile()
      try storage.names?.check()
    }
    guard isChecked != nil else { return }
    _ = try look(storage)
  }

  /// Runs `body` unless the file has been closed meanwhile.
  private func with(_ body: (Storage) throws -> Void) {
    withoutDelivering(body)
    observers.deliver(isForeign: true)
  }

  private func withoutDelivering(_ body: (Storage) throws -> Void) {
    let failure: (any Error, String)? = looking.withLock { _ in
      // The removal of the last observer does not wait a second time.
      guard state.withLock({ $0.events != nil }), let storage else { return nil }
      return Result { try body(storage) }.failure.map { ($0, storage.location.path) }
    }
    if let (error, path) = failure { report(error, path) }
  }
}
