// SPDX-License-Identifier: Apache-2.0

import KeepsakeHubServer
import KeepsakeStorage
import KeepsakeValues

/// The accounts of a hub.
struct AccountTable {
  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  private static let columns = "hub, former, seq, forgotten, rows, bytes, collected"
  private static let find = FrequentStatement(
    "SELECT \(columns) FROM account WHERE id = ?1")
  private static let update = FrequentStatement(
    """
    UPDATE account SET hub = ?2, former = ?3, seq = ?4, forgotten = ?5, rows = ?6, bytes = ?7,
      collected = ?8
    WHERE id = ?1
    """)

  func account(_ number: Int64) throws -> HubAccount? {
    var found: (account: HubAccount, former: String)?
    try connection.run(Self.find, bind: { try $0.bind(number, at: 1) }) { row in
      found = Self.stored(row)
      return false
    }
    return try found.map(Self.account)
  }

  /// An account, and the text of its former replica IDs, which has still to be read.
  private static func stored(_ row: Row) -> (account: HubAccount, former: String) {
    var account = HubAccount(hub: ReplicaID(rawValue: row.integer(0)))
    (account.seq, account.forgotten) = (row.integer(2), row.integer(3))
    (account.rows, account.bytes, account.collected) = (
      row.integer(4), row.integer(5), row.integer(6)
    )
    return (account, row.text(1))
  }

  private static func account(
    _ stored: (account: HubAccount, former: String)
  ) throws -> HubAccount {
    var account = stored.account
    account.former = try replicas(stored.former)
    return account
  }

  func save(_ account: HubAccount, as number: Int64) throws {
    try connection.run(Self.update) { row in
      try row.bind(number, at: 1)
      for (place, cell) in Self.cells(account).enumerated() {
        try row.bind(cell, at: Int32(place) + 2)
      }
    }
  }

  /// As `columns` has them.
  private static func cells(_ account: HubAccount) -> [Cell] {
    [
      .integer(account.hub.rawValue),
      .text(account.former.map(\.description).joined(separator: " ")),
      .integer(account.seq), .integer(account.forgotten), .integer(account.rows),
      .integer(account.bytes), .integer(account.collected),
    ]
  }

  private static func replicas(_ text: String) throws -> [ReplicaID] {
    try text.split(separator: " ").map { word in
      guard let number = UInt64(word, radix: 16) else {
        throw HubDatabaseError.broken("\(word) is no former replica ID of an account")
      }
      return ReplicaID(rawValue: Int64(bitPattern: number))
    }
  }

  func all() throws -> [Int64: HubAccount] {
    let rows = try connection.all("SELECT \(Self.columns), id FROM account") {
      ($0.integer(7), Self.stored($0))
    }
    return try Dictionary(rows, uniquingKeysWith: { $1 }).mapValues(Self.account)
  }

  // MARK: - For the directory

  func add(_ account: HubAccount) throws -> Int64 {
    let insert = """
      INSERT INTO account (\(Self.columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) RETURNING id
      """
    let number = try connection.first(insert, Self.cells(account)) { $0.integer(0) }
    guard let number else { throw HubDatabaseError.broken("a new account got no number") }
    return number
  }

  func remove(_ number: Int64) throws {
    try connection.run("DELETE FROM account WHERE id = ?1", [.integer(number)])
  }

  func count() throws -> Int {
    try connection.first("SELECT count(*) FROM account") { Int($0.integer(0)) } ?? 0
  }
}
