// SPDX-License-Identifier: Apache-2.0

import KeepsakeHubServer
import KeepsakeStorage
import KeepsakeValues

/// The accounts of a hub.
struct AccountTable {
  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  private static let find = FrequentStatement(
    "SELECT hub, former, seq, forgotten FROM account WHERE id = ?1")
  private static let update = FrequentStatement(
    "UPDATE account SET hub = ?2, former = ?3, seq = ?4, forgotten = ?5 WHERE id = ?1")

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
      try Self.bind(account, to: row)
    }
  }

  private static func bind(_ account: HubAccount, to row: Bindings) throws {
    try row.bind(account.hub.rawValue, at: 2)
    try row.bind(account.former.map(\.description).joined(separator: " "), at: 3)
    try row.bind(account.seq, at: 4)
    try row.bind(account.forgotten, at: 5)
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
    let rows = try connection.all("SELECT hub, former, seq, forgotten, id FROM account") {
      ($0.integer(4), Self.stored($0))
    }
    return try Dictionary(rows, uniquingKeysWith: { $1 }).mapValues(Self.account)
  }

  // MARK: - For the directory

  func add(_ account: HubAccount) throws -> Int64 {
    let insert = """
      INSERT INTO account (id, hub, former, seq, forgotten) VALUES (?1, ?2, ?3, ?4, ?5)
      RETURNING id
      """
    let former = account.former.map(\.description).joined(separator: " ")
    let number = try connection.first(
      insert,
      [
        .null, .integer(account.hub.rawValue), .text(former), .integer(account.seq),
        .integer(account.forgotten),
      ]
    ) { $0.integer(0) }
    return number ?? 0
  }

  func remove(_ number: Int64) throws {
    try connection.run("DELETE FROM account WHERE id = ?1", [.integer(number)])
  }

  func count() throws -> Int {
    try connection.first("SELECT count(*) FROM account") { Int($0.integer(0)) } ?? 0
  }
}
