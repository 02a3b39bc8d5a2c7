// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeHubServer
import KeepsakeStorage
import KeepsakeValues

extension FileDirectory {
  func addInvitation(_ invitation: HubInvitation) throws {
    try connection.run(
      "INSERT INTO invitation (code, account, ends) VALUES (?1, ?2, ?3)",
      [
        .blob(Data(invitation.codeHash)), .integer(invitation.account), .integer(invitation.end),
      ])
  }

  func takeInvitation(withCode hash: [UInt8]) throws -> HubInvitation? {
    try connection.first(
      "DELETE FROM invitation WHERE code = ?1 RETURNING account, ends", [.blob(Data(hash))]
    ) { HubInvitation(account: $0.integer(0), codeHash: hash, end: $0.integer(1)) }
  }

  func dropInvitations(endedBy now: Int64) throws {
    try connection.run("DELETE FROM invitation WHERE ends <= ?1", [.integer(now)])
  }

  func dropInvitations(to account: Int64) throws {
    try connection.run("DELETE FROM invitation WHERE account = ?1", [.integer(account)])
  }
}
