// SPDX-License-Identifier: Apache-2.0
//
// What a hub keeps of one account; each table has its file.

package import KeepsakeHubServer
package import KeepsakeStorage
import KeepsakeSync
import KeepsakeValues

/// One account, within a transaction.
final class FileTables: HubTables {
  let connection: Connection
  let number: Int64
  private(set) var account: HubAccount
  /// Whether rows came in.
  var hasNews = false

  /// - Throws: `HubDatabaseError.noAccount`.
  init(_ connection: Connection, _ number: Int64) throws {
    guard let account = try AccountTable(connection).account(number) else {
      throw HubDatabaseError.noAccount
    }
    (self.connection, self.number, self.account) = (connection, number, account)
  }

  /// Writes nothing where nothing has changed, as most requests ask for news that there are not.
  func save(_ account: HubAccount) throws {
    guard account != self.account else { return }
    try AccountTable(connection).save(account, as: number)
    self.account = account
  }

  var news: (account: Int64, seq: Int64)? { hasNews ? (number, account.seq) : nil }
}

extension HubTables {
  /// The connection to the file, if these are tables of a file: tests trace its statements.
  package var fileConnection: Connection? { (self as? FileTables)?.connection }
}
