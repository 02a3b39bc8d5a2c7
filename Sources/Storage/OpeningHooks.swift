// SPDX-License-Identifier: Apache-2.0

package import KeepsakeMigrations

/// What tests do at the moments at which another process may come between.
package struct OpeningHooks: Sendable {
  /// Between the look at a path and the opening of what is there.
  package var beforeOpening: @Sendable () -> Void
  /// Between SQLite's opening of the files and the look at their names.
  package var beforeNaming: @Sendable () -> Void
  /// Between the check of a file that lacks migrations and the transaction that applies them.
  package var beforeMigrating: @Sendable () -> Void
  /// Between the look at the names and SQLite's closing of the files; a second look follows it if
  /// another connection had the file open, or a name was wrong.
  package var beforeClosing: @Sendable () -> Void
  /// Every migration that this version knows.
  package var migrations: [Migration]

  package init(
    beforeOpening: @escaping @Sendable () -> Void = {},
    beforeNaming: @escaping @Sendable () -> Void = {},
    beforeMigrating: @escaping @Sendable () -> Void = {},
    beforeClosing: @escaping @Sendable () -> Void = {},
    migrations: [Migration] = Migrations.all
  ) {
    (self.beforeOpening, self.beforeNaming) = (beforeOpening, beforeNaming)
    (self.beforeMigrating, self.beforeClosing) = (beforeMigrating, beforeClosing)
    self.migrations = migrations
  }
}
