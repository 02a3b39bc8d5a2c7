// SPDX-License-Identifier: Apache-2.0
//
// Runs the statements of jobs in a transaction.

import KeepsakeHubServer
import KeepsakeStorage

struct FileTransaction {
  let connection: Connection

  /// - Returns: the new mark of the job's account, if there is one.
  func run(_ job: HubJob) throws -> HubMark? {
    job.decide(try state(for: job.query))
    guard let change = job.change else { return nil }
    for call in change.calls(job.query.account) { _ = try run(call) }
    return change.mark
  }

  private func state(for query: HubQuery) throws -> HubState {
    var state = HubState()
    state.account = try run(HubCall(.account, .number(query.account))).first.map { HubAccount($0) }
    guard let account = state.account else { return state }
    let outlines = query.keys.map { HubCall(Self.outlines, .number(query.account), .bytes($0)) }
    state.take(try (query.calls + outlines).map(run), of: query)
    if let page = query.page, !(page.unless?.isSame(account.newest) ?? false) {
      (state.rows, state.hasMore) = try rows(page, query.account)
    }
    return state
  }

  // MARK: - Statements of both stores

  private static let outlines = HubStatement.outlines("= $2")
  private static let statements = (HubStatement.all + [outlines])
    .reduce(into: [String: FrequentStatement]()) {
      $0[$1.name] = FrequentStatement($1.sql.replacing("$", with: "?"))
    }

  private func run(_ call: HubCall) throws -> [[HubCell]] {
    guard let statement = Self.statements[call.statement.name] else {
      throw HubStoreError.broken("there is no statement \(call.statement.name)")
    }
    var rows: [[HubCell]] = []
    try connection.run(
      statement,
      bind: { bindings in
        for (place, cell) in zip(Int32(1)..., call.cells) {
          switch cell {
          case .number(let number): try bindings.bind(number, at: place)
          case .bytes(let bytes): try bindings.bind(bytes, at: place)
          case .numbers, .blobs: throw HubStoreError.broken("SQLite has no arrays")
          }
        }
      }
    ) { row in
      rows.append(
        (0..<row.columns).map { column in
          if case .blob = row.cell(column) { return .bytes(row.array(column)) }
          return .number(row.integer(column))
        })
      return true
    }
    return rows
  }

  // MARK: - A page

  private static let readRows = FrequentStatement(
    """
    SELECT number, is_deleted, key, body FROM keepsake_row WHERE account = ?1 AND number > ?2
    ORDER BY number
    """)

  private func rows(_ page: HubPage, _ account: Int64) throws -> (rows: [HubRow], hasMore: Bool) {
    var (rows, bytes, hasMore) = ([HubRow](), 0, false)
    try connection.run(
      Self.readRows,
      bind: { bindings in
        try bindings.bind(account, at: 1)
        try bindings.bind(page.after, at: 2)
      }
    ) { row in
      bytes += row.byteCount(2) + row.byteCount(3)
      guard rows.isEmpty || rows.count < page.rows && bytes <= page.bytes else {
        hasMore = true
        return false
      }
      rows.append(
        HubRow(
          key: row.array(2), body: row.array(3),
          isDeleted: row.integer(1) != 0, number: row.integer(0)))
      return true
    }
    return (rows, hasMore)
  }
}
