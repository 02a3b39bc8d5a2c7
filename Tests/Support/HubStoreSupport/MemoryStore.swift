// SPDX-License-Identifier: Apache-2.0

package import KeepsakeHubServer
import Synchronization

/// A hub's store in memory: a test double.
package final class MemoryStore: HubStore {
  private typealias Observer = @Sendable (Int64, HubMark) -> Void

  private struct State {
    var accounts: [Int64: MemoryAccount] = [:]
    var observers: [Observer] = []
    var failure: HubStoreError?
  }

  /// All accounts at one moment.
  package struct Image: Sendable {
    fileprivate let accounts: [Int64: MemoryAccount]
  }

  private let state = Mutex(State())

  package init() {}

  /// What it has; set, it goes back, or on, to another state.
  package var image: Image {
    get { state.withLock { Image(accounts: $0.accounts) } }
    set { state.withLock { $0.accounts = newValue.accounts } }
  }

  /// Lets all work fail, or none.
  package func fail(_ error: HubStoreError?) { state.withLock { $0.failure = error } }

  /// Runs work at once.
  package func runNow<Result: Sendable>(_ work: HubWork<Result>) throws -> Result {
    let found = Mutex<Swift.Result<Result, any Error>?>(nil)
    run(work) { result in found.withLock { $0 = result } }
    guard let result = found.withLock({ $0 }) else { throw HubStoreError.broken("no answer") }
    return try result.get()
  }

  package func run<Result: Sendable>(
    _ work: HubWork<Result>,
    _ done: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
  ) {
    let id = work.query.account
    var newest: HubMark?
    let result: Swift.Result<Result, any Error> = state.withLock { state in
      Swift.Result {
        if let failure = state.failure { throw failure }
        let (result, change) = try work.rule(
          state.accounts[id]?.state(for: work.query) ?? HubState())
        guard let change else { return result }
        precondition(work.query.isWriting, "a rule that only reads has returned a change")
        if change.deletesAccount {
          state.accounts[id] = nil
        } else {
          state.accounts[id, default: MemoryAccount(id)].apply(change)
          newest = change.mark
        }
        return result
      }
    }
    done(result)
    guard let newest else { return }
    for observer in state.withLock(\.observers) { observer(id, newest) }
  }

  package func observe(_ onChange: @escaping @Sendable (Int64, HubMark) -> Void) {
    state.withLock { $0.observers.append(onChange) }
  }

  package func close() {}
}

/// One account in memory.
private struct MemoryAccount: Sendable {
  private var account: HubAccount
  private var rows: [[UInt8]: HubRow] = [:]
  private var marks: [HubMark] = []
  private var vectors: [HubVectors] = []
  private var replicas: [String: HubReplica] = [:]
  private var devices: [Int64: HubDevice] = [:]
  private var invitation: HubInvitation?

  init(_ id: Int64) { account = HubAccount(id: id) }

  func state(for query: HubQuery) -> HubState {
    var state = HubState()
    state.account = account
    state.device = query.token.flatMap { token in
      devices.values.first { $0.tokenHash == token }
    }
    state.replica = query.replica.flatMap { replicas[$0] }
    state.hasMarks = query.marks.map { mark in
      mark.number == 0 || marks.contains { $0.isSame(mark) }
    }
    if query.readsDevices {
      (state.devices, state.invitation) = (Array(devices.values), invitation)
    }
    state.outlines = query.keys.compactMap { rows[$0] }.map {
      HubRowOutline(key: $0.key, number: $0.number, size: $0.size, isDeleted: $0.isDeleted)
    }
    if let page = query.page, !(page.unless?.isSame(account.newest) ?? false) {
      var bytes: Int64 = 0
      let above = rows.values.filter { $0.number > page.after }.sorted { $0.number < $1.number }
      for row in above {
        bytes += row.size
        guard state.rows.isEmpty || state.rows.count < page.rows && bytes <= page.bytes else {
          state.hasMore = true
          break
        }
        state.rows.append(row)
      }
      state.vectors = vectors.filter { $0.number > page.cursor }
    }
    return state
  }

  mutating func apply(_ change: HubChange) {
    account = change.account ?? account
    for row in change.rows { rows[row.key] = row }
    for key in change.forgottenKeys { rows[key] = nil }
    if let mark = change.mark { marks.append(mark) }
    if let change = change.vectors {
      vectors.removeAll { $0.number <= change.read }
      var left = change.bytes
      let kept = vectors.suffix(HubVectors.most - 1).reversed().prefix {
        left -= Int64($0.body.count)
        return left >= 0
      }
      vectors = kept.reversed() + [change.new]
    }
    if let replica = change.replica { replicas[replica.id] = replica }
    if let device = change.device { devices[device.number] = device }
    if let number = change.forgottenDevice { devices[number] = nil }
    if change.dropsInvitation { invitation = nil }
    invitation = change.invitation ?? invitation
    guard let (kept, day) = change.trim else { return }
    let last = replicas.values.sorted { ($1.number, $0.id) < ($0.number, $1.id) }
    for replica in last.dropFirst(kept.replicas) { replicas[replica.id] = nil }
    let ofDay = marks.dropLast(kept.marks).filter { $0.time >= day }
    marks = (ofDay + marks.suffix(kept.marks)).suffix(kept.marksOfDay)
  }
}
