// SPDX-License-Identifier: Apache-2.0
//
// What a transaction reads.

import Foundation
import KeepsakeHubServer
import KeepsakeStorage
import KeepsakeValues

struct FileTransaction {
  let connection: Connection

  func state(for query: HubQuery) throws -> HubState {
    var state = HubState()
    state.account = try account(query.account)
    guard let account = state.account else { return state }
    if let token = query.token {
      state.device = try devices(Self.deviceOfToken, query.account, .blob(Data(token))).first
    }
    if query.readsDevices {
      state.devices = try devices(Self.allDevices, query.account)
      state.invitation = try invitation(query.account)
    }
    if let replica = query.replica { state.replica = try self.replica(replica, query.account) }
    state.hasMarks = try query.marks.map { try has($0, query.account) }
    if let page = query.page, !(page.unless?.isSame(account.newest) ?? false) {
      (state.rows, state.hasMore) = try rows(page, query.account)
      state.vectors = try vectors(query.account)
    }
    state.outlines = try outlines(query.keys, query.account)
    return state
  }

  // MARK: - The account

  static let accountColumns =
    "id, mark_number, mark_bits, mark_time, forgotten, rows, bytes, reserved_until, reserved_by"
  private static let findAccount = FrequentStatement(
    "SELECT \(accountColumns) FROM account WHERE id = ?1")

  private func account(_ id: Int64) throws -> HubAccount? {
    var found: HubAccount?
    try connection.run(Self.findAccount, bind: { try $0.bind(id, at: 1) }) { row in
      found = Self.storedAccount(row)
      return false
    }
    return found
  }

  static func storedAccount(_ row: Row) -> HubAccount {
    var account = HubAccount(id: row.integer(0))
    account.newest = HubMark(
      number: row.integer(1), bits: row.integer(2), time: row.integer(3))
    account.forgotten = row.integer(4)
    (account.rows, account.bytes) = (row.integer(5), row.integer(6))
    (account.reservedUntil, account.reservedBy) = (row.integer(7), row.text(8))
    return account
  }

  // MARK: - The log

  private static let findMark = FrequentStatement(
    "SELECT 1 FROM mark WHERE account = ?1 AND number = ?2 AND bits = ?3")

  private func has(_ mark: HubMark, _ account: Int64) throws -> Bool {
    guard mark.number > 0 else { return true }
    var isThere = false
    try connection.run(
      Self.findMark,
      bind: { bindings in
        try bindings.bind(account, at: 1)
        try bindings.bind(mark.number, at: 2)
        try bindings.bind(mark.bits, at: 3)
      }
    ) { _ in
      isThere = true
      return false
    }
    return isThere
  }

  private static let readRows = FrequentStatement(
    """
    SELECT number, is_deleted, key, body FROM entry WHERE account = ?1 AND number > ?2
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

  private static let readVectors = FrequentStatement("SELECT body FROM vectors WHERE account = ?1")

  private func vectors(_ account: Int64) throws -> [UInt8]? {
    var found: [UInt8]?
    try connection.run(Self.readVectors, bind: { try $0.bind(account, at: 1) }) { row in
      found = row.array(0)
      return false
    }
    return found
  }

  /// Of so many keys at once.
  private static let outlineKeys = 8
  private static let readOutlines = FrequentStatement(
    """
    SELECT key, number, length(key) + length(body), is_deleted FROM entry
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

  private static let findReplica = FrequentStatement(
    "SELECT number, mark FROM replica WHERE account = ?1 AND id = ?2")

  private func replica(_ id: String, _ account: Int64) throws -> HubReplica? {
    var found: HubReplica?
    try connection.run(
      Self.findReplica,
      bind: { bindings in
        try bindings.bind(account, at: 1)
        try bindings.bind(id, at: 2)
      }
    ) { row in
      found = HubReplica(id: id, number: row.integer(0), mark: row.array(1))
      return false
    }
    return found
  }

  // MARK: - Devices

  private static let deviceColumns = "number, created, last_use, revoked, revoker, name, token"
  private static let deviceOfToken =
    "SELECT \(deviceColumns) FROM device WHERE account = ?1 AND token = ?2"
  private static let allDevices =
    "SELECT \(deviceColumns) FROM device WHERE account = ?1 ORDER BY number"

  private func devices(
    _ sql: String, _ account: Int64, _ more: Cell...
  ) throws -> [HubDevice] {
    try connection.all(sql, [.integer(account)] + more) { row in
      var device = HubDevice(
        number: row.integer(0), name: row.text(5), tokenHash: row.array(6),
        created: row.integer(1))
      device.lastUse = row.integer(2)
      if case .integer(let date) = row.cell(3) { device.revoked = date }
      if case .integer(let number) = row.cell(4) { device.revoker = number }
      return device
    }
  }

  private func invitation(_ account: Int64) throws -> HubInvitation? {
    try connection.first(
      "SELECT code, ends FROM invitation WHERE account = ?1", [.integer(account)]
    ) { HubInvitation(codeHash: $0.array(0), ends: $0.integer(1)) }
  }
}
