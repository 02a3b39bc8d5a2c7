// SPDX-License-Identifier: Apache-2.0

import Dispatch
package import KeepsakeHubServer
import KeepsakeSync
import KeepsakeValues
import Synchronization

/// A hub's accounts in memory, gone with their process: for tests and for trying out.
package final class MemoryDatabase: HubDatabase {
  private typealias Observer = @Sendable (_ account: Int64, _ seq: Int64) -> Void

  private struct State {
    var content = MemoryDirectory()
    var observers: [Observer] = []
    var isClosed = false
  }

  package let name = "(memory)"
  /// Runs one piece of work after the other: it is the only one that replaces `content`, so what a
  /// piece starts from stands until it is done.
  private let queue = DispatchQueue(label: "hub in memory")
  /// Held for a few instructions; nothing is called under it.
  private let state = Mutex(State())

  package init() {}

  package func submit<Result: Sendable>(
    on account: Int64, _ work: @escaping @Sendable (any HubTables) throws -> Result,
    _ done: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
  ) {
    add(done) { content in
      guard let present = content.accounts[account] else { throw HubDatabaseError.noAccount }
      let tables = MemoryHub.Transaction(present)
      let result = try work(tables)
      content.accounts[account] = tables.content
      let seq = tables.content.account.seq
      return (result, seq > present.account.seq ? (account, seq) : nil)
    }
  }

  package func submit<Result: Sendable>(
    _ work: @escaping @Sendable (any HubDirectory) throws -> Result,
    _ done: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void
  ) {
    add(done) { content in
      let transaction = MemoryDirectory.Transaction(content)
      let result = try work(transaction)
      content = transaction.content
      return (result, nil)
    }
  }

  /// - Parameter work: changes what it is given, and returns which account got rows; what it
  ///   changed counts for nothing where it throws.
  private func add<Result: Sendable>(
    _ done: @escaping @Sendable (Swift.Result<Result, any Error>) -> Void,
    _ work: @escaping @Sendable (inout MemoryDirectory) throws -> (
      Result, (account: Int64, seq: Int64)?
    )
  ) {
    queue.async { [self] in
      var (content, isClosed) = state.withLock { ($0.content, $0.isClosed) }
      guard !isClosed else { return done(.failure(HubDatabaseError.unavailable("the hub ends"))) }
      do {
        let (result, news) = try work(&content)
        let observers = state.withLock { state in
          state.content = content
          return state.observers
        }
        done(.success(result))
        guard let news else { return }
        for observer in observers { observer(news.account, news.seq) }
      } catch {
        done(.failure(error))
      }
    }
  }

  package func observe(
    _ onChange: @escaping @Sendable (_ account: Int64, _ seq: Int64) -> Void
  ) {
    state.withLock { $0.observers.append(onChange) }
  }

  /// Must not be called by what was submitted.
  package func close() {
    queue.sync { state.withLock { $0.isClosed = true } }
  }
}
