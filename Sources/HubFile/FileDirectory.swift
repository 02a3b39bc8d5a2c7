// SPDX-License-Identifier: Apache-2.0
//
// The accounts, and who may use them.

import KeepsakeHubServer
import KeepsakeStorage

/// The directory of a hub, within a transaction.
struct FileDirectory: HubDirectory {
  let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  func addAccount(_ account: HubAccount, at now: Int64) throws -> Int64 {
    try AccountTable(connection).add(account)
  }

  func removeAccount(_ account: Int64) throws {
    try FileTables.removeEntries(of: account, connection)
    try FileTables.removeHeld(of: account, connection)
    try FileTables.removeSeen(of: account, connection)
    try FileTables.removeRevocations(of: account, connection)
    try FileTables.removePeers(of: account, connection)
    try removeMembers(of: account)
    try dropInvitations(to: account)
    try AccountTable(connection).remove(account)
  }

  func accountCount() throws -> Int { try AccountTable(connection).count() }
}
