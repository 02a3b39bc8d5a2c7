// SPDX-License-Identifier: Apache-2.0

package import KeepsakeMigrations

/// What tests do at the moments of an opening at which another process may come between.
package struct OpeningHooks: Sendable {
  /// Between the look at a path and the opening of what is there.
  package var beforeOpening: @Sendable () -> Void
  /// Between the check of a file that lacks migrations and the transaction that applies them.
  package var beforeMigrating: @Sendable () -> Void
  /// Every migration that this version knows.
  package var migrations: [Migration]

  package init(
    beforeOpening: @escaping @Sendable () -> Void = {},
    beforeMigrating: @escaping @Sendable () -> Void = {},
    migrations: [Migration] = Migrations.all
  ) {
    (self.beforeOpening, self.beforeMigrating) = (beforeOpening, beforeMigrating)
    self.migrations = migrations
  }
}
