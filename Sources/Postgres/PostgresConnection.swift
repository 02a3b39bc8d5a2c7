// SPDX-License-Identifier: Apache-2.0
//
// One connection, used by one thread. Statements that are sent together take one round trip
// (libpq's pipeline mode). No call waits for ever: a server that does not answer in time counts
// as lost.

#if PostgreSQL
  import CPostgres
  package import Foundation
  package import KeepsakeHubServer

  extension HubStatement {
    static let commit = HubStatement("commit", "COMMIT")
  }

  package final class PostgresConnection {
    /// Collects warnings of the server: one at a commit says that it is not safe on a standby.
    final class Warnings { var texts: [String] = [] }

    let warnings = Warnings()
    private let handle: OpaquePointer
    /// In seconds.
    var timeout: TimeInterval

    /// Opens a connection to the first server that accepts writes.
    ///
    /// - Parameter statements: the statements to prepare; the connection then runs no others.
    package init(
      _ address: PostgresAddress, timeout: TimeInterval = 30, prepare statements: [HubStatement]
    ) throws {
      let options = PostgresAddress.defaults + [("dbname", address.text)]
      var keys: [UnsafeMutablePointer<CChar>?] = options.map { strdup($0.0) } + [nil]
      var values: [UnsafeMutablePointer<CChar>?] = options.map { strdup($0.1) } + [nil]
      defer { for text in keys + values { free(text) } }
      let opened = keys.withUnsafeMutableBufferPointer { keys in
        values.withUnsafeMutableBufferPointer { values in
          keys.withMemoryRebound(to: UnsafePointer<CChar>?.self) { keys in
            values.withMemoryRebound(to: UnsafePointer<CChar>?.self) { values in
              PQconnectdbParams(keys.baseAddress, values.baseAddress, 1)
            }
          }
        }
      }
      guard let opened else { throw PostgresError(message: "no memory for a connection") }
      guard PQstatus(opened) == CONNECTION_OK else {
        let message = String(cString: PQerrorMessage(opened))
        PQfinish(opened)
        throw PostgresError(message: message)
      }
      (handle, self.timeout) = (opened, timeout)
      PQsetNoticeReceiver(
        opened,
        { context, result in
          guard let context, let severity = PQresultErrorField(result, 0x56) else { return }
          let level = String(cString: severity)
          guard level == "WARNING" else { return }
          let warnings = Unmanaged<Warnings>.fromOpaque(context).takeUnretainedValue()
          warnings.texts.append(PQresultErrorMessage(result).map { String(cString: $0) } ?? level)
        }, Unmanaged.passUnretained(warnings).toOpaque())
      PQsetnonblocking(opened, 1)
      try run(Self.settings)
      if !statements.isEmpty { try prepare(statements) }
    }

    /// Prepares statements; the connection then runs no others.
    func prepare(_ statements: [HubStatement]) throws {
      guard PQenterPipelineMode(handle) == 1 else { throw lost() }
      for statement in statements {
        guard PQsendPrepare(handle, statement.name, statement.sql, 0, nil) == 1 else {
          throw lost()
        }
      }
      _ = try receive(statements.count)
    }

    deinit { PQfinish(handle) }

    /// A hub that stops must not keep an account's lock; a commit that is acknowledged is on the
    /// disk; every statement has one plan, by an index, whatever the statistics of its tables are.
    private static let settings = """
      SET lock_timeout = '2s'; SET statement_timeout = '60s';
      SET idle_in_transaction_session_timeout = '60s'; SET plan_cache_mode = force_generic_plan;
      SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off;
      SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off;
      SET enable_memoize = off; SET jit = off; SET client_min_messages = warning;
      SELECT set_config('synchronous_commit', 'on', false)
        WHERE current_setting('synchronous_commit') = 'off'
      """

    var socket: Int32 { PQsocket(handle) }

    private func lost() -> PostgresError {
      PostgresError(message: String(cString: PQerrorMessage(handle)))
    }

    // MARK: - One round trip

    /// Runs statements in one round trip. After one that fails, none of the rest runs.
    func run(_ calls: [HubCall]) throws -> [PostgresResult] {
      for call in calls {
        let parameters = PostgresParameters(call.cells)
        let ranges = parameters.ranges
        let isSent = parameters.bytes.withUnsafeBytes { bytes in
          let starts = ranges.map { range in
            bytes.baseAddress.map {
              ($0 + range.lowerBound).assumingMemoryBound(to: CChar.self)
            }
          }
          return PQsendQueryPrepared(
            handle, call.statement.name, Int32(ranges.count), starts,
            ranges.map { Int32($0.count) }, ranges.map { _ in 1 }, 1)
        }
        guard isSent == 1 else { throw lost() }
      }
      return try receive(calls.count)
    }

    package func run(_ statement: HubStatement, _ cells: HubCell...) throws -> PostgresResult {
      guard let result = try run([HubCall(statement, cells)]).first else { throw lost() }
      return result
    }

    private func receive(_ count: Int) throws -> [PostgresResult] {
      guard PQpipelineSync(handle) == 1 else { throw lost() }
      let deadline = Date(timeIntervalSinceNow: timeout)
      try flush(deadline)
      var (results, failure) = ([PostgresResult](), PostgresError?.none)
      results.reserveCapacity(count)
      while true {
        guard let result = try next(deadline) else { continue }
        switch PQresultStatus(result) {
        case PGRES_PIPELINE_SYNC:
          PQclear(result)
          if let failure { throw failure }
          return results
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK: results.append(PostgresResult(result))
        default:
          if failure == nil, PQresultStatus(result) == PGRES_FATAL_ERROR { failure = error(result) }
          PQclear(result)
          if PQstatus(handle) != CONNECTION_OK { throw failure ?? lost() }
        }
      }
    }

    private func error(_ result: OpaquePointer) -> PostgresError {
      let state = PQresultErrorField(result, 0x43).map { String(cString: $0) }
      let message = PQresultErrorField(result, 0x4D).map { String(cString: $0) }
      return PostgresError(
        state: PQstatus(handle) == CONNECTION_OK ? state : nil,
        message: message ?? String(cString: PQresultErrorMessage(result)))
    }

    // MARK: - Waiting

    /// The next result; nil after the last one of a statement.
    private func next(_ deadline: Date) throws -> OpaquePointer? {
      while PQisBusy(handle) == 1 {
        try wait(Int16(POLLIN), deadline)
        guard PQconsumeInput(handle) == 1 else { throw lost() }
      }
      let result = PQgetResult(handle)
      if result == nil, PQstatus(handle) != CONNECTION_OK { throw lost() }
      return result
    }

    private func flush(_ deadline: Date) throws {
      while true {
        switch PQflush(handle) {
        case 0: return
        case 1:
          // The server may not accept more before its answers are read.
          let events = try wait(Int16(POLLIN | POLLOUT), deadline)
          guard events & Int16(POLLIN) == 0 || PQconsumeInput(handle) == 1 else { throw lost() }
        default: throw lost()
        }
      }
    }

    /// Waits at most 50 ms: TLS may have data that the socket does not show.
    @discardableResult
    private func wait(_ events: Int16, _ deadline: Date) throws -> Int16 {
      var place = pollfd(fd: PQsocket(handle), events: events, revents: 0)
      let left = deadline.timeIntervalSinceNow
      guard left > 0, place.fd >= 0 else {
        cancel()
        throw PostgresError(message: "it does not answer", isTimeout: true)
      }
      _ = poll(&place, 1, min(Int32(left * 1000) + 1, 50))
      return place.revents
    }

    /// Cancels the statement that the server still runs: a commit that waits for a standby would
    /// keep the lock of its account. Uses a new thread, as a frozen server may never answer.
    private func cancel() {
      guard let request = PQgetCancel(handle) else { return }
      let canceller = Canceller(request: request)
      Thread.detachNewThread { canceller.run() }
    }

    // Sendable: one thread uses it, once.
    private struct Canceller: @unchecked Sendable {
      let request: OpaquePointer

      func run() {
        var message = [CChar](repeating: 0, count: 256)
        // The connection is closed anyway.
        _ = PQcancel(request, &message, 256)
        PQfreeCancel(request)
      }
    }

    /// Runs statements and commits.
    ///
    /// - Throws: also if the server has committed, but warns that a standby may not have.
    func commit(after calls: [HubCall]) throws -> [PostgresResult] {
      warnings.texts = []
      let results = try run(calls + [HubCall(.commit)])
      guard results.last?.tag == "COMMIT" else {
        throw PostgresError(state: "40000", message: "the transaction was rolled back")
      }
      if let warning = warnings.texts.first { throw PostgresError(message: warning) }
      return results
    }

    // MARK: - Without a pipeline

    /// Runs statements without parameters, before anything is prepared.
    ///
    /// - Returns: what the last one returns, as text.
    @discardableResult
    func run(_ sql: String) throws -> PostgresResult {
      guard PQsendQuery(handle, sql) == 1 else { throw lost() }
      let deadline = Date(timeIntervalSinceNow: timeout)
      try flush(deadline)
      var (last, failure) = (PostgresResult?.none, PostgresError?.none)
      while let result = try next(deadline) {
        if PQresultStatus(result) == PGRES_FATAL_ERROR { failure = failure ?? error(result) }
        last = PostgresResult(result)
      }
      if let failure { throw failure }
      guard let last else { throw lost() }
      return last
    }

    /// The notifications that have arrived, without waiting.
    func notifications() throws -> [String] {
      guard PQconsumeInput(handle) == 1 else { throw lost() }
      var texts: [String] = []
      while let notification = PQnotifies(handle) {
        texts.append(String(cString: notification.pointee.extra))
        PQfreemem(notification)
      }
      return texts
    }
  }
#endif
