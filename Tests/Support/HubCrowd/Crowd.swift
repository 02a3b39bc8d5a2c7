// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeepsakeSync
import KeepsakeTesting
import Synchronization

/// Devices of many accounts that push rows, a few of them at once: each time one has its answer,
/// another one goes on.
package final class Crowd: Sendable {
  private struct State {
    /// Those that wait for nothing.
    var idle: [Pusher]
    var generator: SeededGenerator
    var left: Int
    var failure: (any Error)?
  }

  private let hub: any AnsweringHub
  private let rows: Int
  private let state: Mutex<State>
  private let end = DispatchSemaphore(value: 0)
  /// Called once for each push that was acknowledged.
  private let acknowledged: @Sendable (_ account: Int64, _ seq: Int64) -> Void

  /// - Parameters:
  ///   - accounts: of a hub that has none.
  ///   - rows: of each push, at random among 200 keys.
  package init(
    _ hub: any AnsweringHub, accounts: Int, rows: Int, seed: UInt64,
    acknowledged: @escaping @Sendable (_ account: Int64, _ seq: Int64) -> Void = { _, _ in }
  ) throws {
    (self.hub, self.rows, self.acknowledged) = (hub, rows, acknowledged)
    try hub.addAccounts(accounts)
    var idle: [Pusher] = []
    for account in 1...Int64(accounts) {
      var pusher = Pusher(account: account, id: 1_000_000 + account)
      pusher.heard(try hub.ask(account, pusher.look))
      idle.append(pusher)
    }
    state = Mutex(State(idle: idle, generator: SeededGenerator(seed: seed), left: 0))
  }

  /// - Parameter atOnce: how many pushes are under way.
  package func push(_ count: Int, atOnce: Int) throws {
    state.withLock { $0.left = count }
    for _ in 0..<atOnce { next() }
    for _ in 0..<atOnce { end.wait() }
    if let failure = state.withLock(\.failure) { throw failure }
  }

  private func next() {
    let work = state.withLock { state -> (Pusher, HubRequest)? in
      guard state.left > 0, state.failure == nil else { return nil }
      state.left -= 1
      let place = Int.random(in: state.idle.indices, using: &state.generator)
      state.idle.swapAt(place, state.idle.count - 1)
      guard var pusher = state.idle.popLast() else { return nil }
      var keys: Set<Int> = []
      while keys.count < rows { keys.insert(.random(in: 0..<200, using: &state.generator)) }
      let value = String(repeating: "v", count: 80) + "\(state.left)"
      let request = pusher.push(keys.sorted(), value)
      return (pusher, request)
    }
    guard let (pusher, request) = work else {
      end.signal()
      return
    }
    hub.ask(pusher.account, request) { [self] result in
      do {
        var pusher = pusher
        let answer = try result.get()
        pusher.heard(answer)
        acknowledged(pusher.account, answer.seq)
        state.withLock { [pusher] in $0.idle.append(pusher) }
      } catch {
        state.withLock { $0.failure = error }
      }
      next()
    }
  }
}
