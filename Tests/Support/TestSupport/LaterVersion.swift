// SPDX-License-Identifier: Apache-2.0

package import KeepsakeDevice
package import KeepsakeMigrations
import KeepsakeValues

/// A later version of the package, which knows one migration more.
package enum LaterVersion {
  package static let migrations =
    Migrations.all + [
      Migration(
        name: "V002_note", hash: String(repeating: "2", count: 64),
        sql: """
          CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
          CREATE INDEX note_text ON note (text);
          ALTER TABLE peer ADD COLUMN nickname TEXT;
          INSERT INTO note (text) SELECT key FROM entry;
          """)
    ]

  package static let hooks = OpeningHooks(migrations: migrations)

  /// Opens an existing file, and migrates it if that was not done.
  package static func open(
    _ path: String, hooks: OpeningHooks = hooks
  ) throws(KeepsakeError) -> Device {
    try Device(path, hooks: hooks)
  }
}
