// SPDX-License-Identifier: Apache-2.0
//
// Reads and changes of a transaction.

import Foundation
import KeepsakeHubServer
import KeepsakeStorage
import KeepsakeValues

struct FileTransaction {
  let connection: Connection

  func state(for query: HubQuery) throws -> HubState {
    var state = HubState()
    state.account = try run(HubCall(.account, .number(query.account))).first.map { HubAccount($0) }
    guard let account = state.account else { return state }
    state.take(try query.calls.map(run), of: query)
    if let page = query.page, !(page.unless?.isSame(account.newest) ?? false) {
      (state.rows, state.hasMore) = try rows(page, query.account)
    }
    state.outlines = try outlines(query.keys, query.account)
    return state
  }

  func apply(_ change: HubChange, to account: Int64) throws {
    for call in change.calls(account) { _ = try run(call) }
    for row in change.rows { try put(row, account) }
    for key in change.forgottenKeys {
      try connection.run(
        "DELETE FROM keepsake_row WHERE account = ?1 AND key = ?2",
        [.integer(account), .blob(Data(key))])
    }
  }

  // MARK: - Statements of both stores

  private static let statements = HubStatement.all.reduce(into: [String: FrequentStatement]()) {
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
          case .null: try bindings.bind(.null, at: place)
          case .number(let number): try bindings.bind(number, at: place)
          case .bytes(let bytes): try bindings.bind(bytes, at: place)
          }
        }
      }
    ) { row in
      rows.append(row.hubCells)
      return true
    }
    return rows
  }

  // MARK: - Rows

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

  /// Of so many keys at once.
  private static let outlineKeys = 8
  private static let readOutlines = FrequentStatement(
    """
    SELECT key, number, length(key) + length(body), is_deleted FROM keepsake_row
    WHERE account = ?1 AND key IN (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
    """)

  private func outlines(_ keys: [[UInt8]], _ account: Int64) throws -> [HubRowOutline] {
    var found: [HubRowOutline] = []
    for start in stride(from: 0, to: keys.count, by: Self.outlineKeys) {
      try connection.run(
        Self.readOutlines,
        bind: { bindings in
          try bindings.bind(account, at: 1)
          for place in 0..<Self.outlineKeys {
            // The last key may stand there several times.
            let key = keys[min(start + place, keys.count - 1)]
            try bindings.bind(key, at: Int32(place + 2))
          }
        }
      ) { row in
        found.append(
          HubRowOutline(
            key: row.array(0), number: row.integer(1), size: row.integer(2),
            isDeleted: row.integer(3) != 0))
        return true
      }
    }
    return found
  }

  private static let putRow = FrequentStatement(
    """
    INSERT INTO keepsake_row (account, number, is_deleted, key, body) VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (account, key) DO UPDATE SET number = ?2, is_deleted = ?3, body = ?5
    """)

  private func put(_ row: HubRow, _ account: Int64) throws {
    try connection.run(Self.putRow) { bindings in
      try bindings.bind(account, at: 1)
      try bindings.bind(row.number, at: 2)
      try bindings.bind(row.isDeleted ? 1 : 0, at: 3)
      try bindings.bind(row.key, at: 4)
      try bindings.bind(row.body, at: 5)
    }
  }
}

extension Row {
  /// All columns. A hub's file has no text.
  var hubCells: [HubCell] {
    (0..<columns).map { column in
      switch cell(column) {
      case .integer(let number): .number(number)
      case .blob(let bytes): .bytes(Array(bytes))
      case .null, .real, .text: .null
      }
    }
  }
}
