// SPDX-License-Identifier: Apache-2.0

import HubSupport
import KeepsakeHubServer
import Synchronization
import Testing

/// A hub in memory, with the directory of which a test does something between two transactions of
/// a request.
final class InterruptedDatabase: HubDatabase {
  private typealias Work = @Sendable (any HubDirectory) throws -> Void

  private let base = MemoryDatabase()
  private let next = Mutex<Work?>(nil)
  private let work = Mutex(0)

  var name: String { base.name }

  /// How often somebody has worked on an account.
  var accountWork: Int { work.withLock { $0 } }

  /// Does something once, right after the next transaction with the directory.
  func afterNext(_ work: @escaping @Sendable (any HubDirectory) throws -> Void) {
    next.withLock { $0 = work }
  }

  func submit<Result: Sendable>(
    on account: Int64, _ work: @escaping @Sendable (any HubTables) throws -> Result,
    _ done: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
  ) {
    self.work.withLock { $0 += 1 }
    base.submit(on: account, work, done)
  }

  func submit<Result: Sendable>(
    _ work: @escaping @Sendable (any HubDirectory) throws -> Result,
    _ done: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
  ) {
    let next = next.withLock { next -> Work? in
      defer { next = nil }
      return next
    }
    base.submit(work) { [base] result in
      // What is done next waits behind this.
      if let next {
        base.submit(next) { if case .failure(let error) = $0 { Issue.record(error) } }
      }
      done(result)
    }
  }

  func observe(_ onChange: @escaping @Sendable (_ account: Int64, _ seq: Int64) -> Void) {
    base.observe(onChange)
  }

  func close() { base.close() }
}
