// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeepsakeHubServer
import Synchronization

/// What waits for the thread of a file.
final class WorkQueue: Sendable {
  typealias Observer = @Sendable (_ account: Int64, _ newest: HubMark) -> Void

  /// Pieces that wait: so many are done within a second or two. A device that asks then is
  /// refused, and asks later.
  static let limit = 2_000

  private struct State {
    var pieces: [Piece] = []
    var observers: [Observer] = []
    /// Whether the thread has something to do now.
    var isAwake = false
    var isClosed = false
  }

  /// Held for a few instructions; nothing is called under it.
  private let state = Mutex(State())
  /// Signalled once for each time that there is something for the thread.
  private let work = DispatchSemaphore(value: 0)
  private let end = DispatchSemaphore(value: 0)

  /// - Parameter wakes: whether the thread is to run it now; otherwise with the next that is.
  func add(_ piece: Piece, wakes: Bool) {
    let (isFirst, problem) = state.withLock { state -> (Bool, String?) in
      guard !state.isClosed else { return (false, "the hub ends") }
      guard state.pieces.count < Self.limit else { return (false, "too much waits for the file") }
      state.pieces.append(piece)
      // What waits for others must not fill the queue, which would then refuse these.
      let wakes = wakes || state.pieces.count >= Self.limit / 2
      let isFirst = wakes && !state.isAwake
      if wakes { state.isAwake = true }
      return (isFirst, nil)
    }
    if let problem { piece.fail(HubStoreError.unavailable(problem)) }
    if isFirst { work.signal() }
  }

  /// What waits, as soon as there is something; nil when it is closed and nothing does.
  func next() -> [Piece]? {
    while true {
      let (pieces, isClosed) = state.withLock { state -> ([Piece], Bool) in
        guard state.isAwake || state.isClosed else { return ([], false) }
        defer { (state.pieces, state.isAwake) = ([], false) }
        return (state.pieces, state.isClosed)
      }
      if !pieces.isEmpty { return pieces }
      if isClosed { return nil }
      work.wait()
    }
  }

  /// Puts pieces before those that wait.
  func putBack(_ pieces: some Collection<Piece>) {
    guard !pieces.isEmpty else { return }
    state.withLock { state in
      state.pieces.insert(contentsOf: pieces, at: 0)
      state.isAwake = true
    }
  }

  func observe(_ observer: @escaping Observer) { state.withLock { $0.observers.append(observer) } }

  func announce(_ marks: [Int64: HubMark]) {
    guard !marks.isEmpty else { return }
    let observers = state.withLock(\.observers)
    for (account, newest) in marks {
      for observer in observers { observer(account, newest) }
    }
  }

  /// Nothing else comes in.
  func close() {
    state.withLock { $0.isClosed = true }
    work.signal()
  }

  func finish() { end.signal() }

  /// Also when several wait, and when it has ended.
  func waitForEnd() {
    end.wait()
    end.signal()
  }
}
