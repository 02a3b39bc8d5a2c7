// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeHubServer
import KeepsakeStorage
import KeepsakeValues

extension FileDirectory {
  private static let columns =
    "id, account, name, token, created, last_use, replica, revoked, revoker"
  private static let find = "SELECT \(columns) FROM member WHERE"

  private func member(_ row: Row) -> HubMember {
    func number(_ column: Int32) -> Int64? {
      if case .integer(let number) = row.cell(column) { number } else { nil }
    }
    var member = HubMember(
      account: row.integer(1), name: row.text(2), tokenHash: Array(row.bytes(3)),
      created: row.integer(4))
    (member.number, member.lastUse) = (row.integer(0), row.integer(5))
    member.replica = number(6).map(ReplicaID.init)
    if let date = number(7) { member.revocation = .init(date: date, member: row.integer(8)) }
    return member
  }

  private func cells(_ member: HubMember) -> [Cell] {
    [
      .integer(member.account), .text(member.name), .blob(Data(member.tokenHash)),
      .integer(member.created), .integer(member.lastUse),
      member.replica.map { .integer($0.rawValue) } ?? .null,
      member.revocation.map { .integer($0.date) } ?? .null,
      member.revocation.map { .integer($0.member) } ?? .null,
    ]
  }

  func addMember(_ member: HubMember) throws -> Int64 {
    let number = try connection.first(
      """
      INSERT INTO member (account, name, token, created, last_use, replica, revoked, revoker)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) RETURNING id
      """, cells(member)
    ) { $0.integer(0) }
    guard let number else { throw HubDatabaseError.broken("a new device got no number") }
    return number
  }

  func member(withToken hash: [UInt8]) throws -> HubMember? {
    try connection.first("\(Self.find) token = ?1", [.blob(Data(hash))]) { member($0) }
  }

  func members(of account: Int64) throws -> [HubMember] {
    try connection.all("\(Self.find) account = ?1 ORDER BY id", [.integer(account)]) { member($0) }
  }

  func save(_ member: HubMember) throws {
    try connection.run(
      """
      UPDATE member SET account = ?1, name = ?2, token = ?3, created = ?4, last_use = ?5,
        replica = ?6, revoked = ?7, revoker = ?8
      WHERE id = ?9
      """, cells(member) + [.integer(member.number)])
  }

  func removeMembers(of account: Int64) throws {
    try connection.run("DELETE FROM member WHERE account = ?1", [.integer(account)])
  }
}
