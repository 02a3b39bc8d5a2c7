// SPDX-License-Identifier: Apache-2.0
//
// Defaults from Settings bundles. They are never entries: an upgrade can change them, and a fresh
// install has nothing of its own that could overwrite another device's settings.

package import KeepsakeValues

/// A default, and where it is declared.
package struct DefaultValue: Sendable, Hashable {
  package var key: String
  package var value: StoredValue
  /// File and line: `Root.plist:214`.
  package var source: String

  package init(key: String, value: StoredValue, source: String) {
    self.key = key
    self.value = value
    self.source = source
  }
}

extension Device {
  /// Replaces all defaults that a bundle declares for a store; touches nothing that was set.
  ///
  /// - Returns: whether anything differed; the same content, seeded last before too, writes
  ///   nothing.
  @discardableResult
  package func seed(
    store: String, bundle: String, _ defaults: [DefaultValue]
  ) throws(KeepsakeError) -> Bool {
    let wanted = defaults.sorted { ByteText($0.key) < ByteText($1.key) }
    let all = try declarations(store: store)
    let isCurrent =
      all.first?.bundle == bundle && all.filter { $0.bundle == bundle }.map(\.value) == wanted
    guard !isCurrent else { return false }
    return try tables.write { connection in
      try connection.run(
        "DELETE FROM default_value WHERE store = ?1 AND bundle = ?2", [.text(store), .text(bundle)])
      let seeding = try connection.first(
        "SELECT ifnull(max(seeding), 0) + 1 FROM default_value"
      ) { $0.integer(0) }
      for item in wanted {
        let content = try TaggedCell(item.value)
        try connection.run(
          "INSERT INTO default_value VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
          [
            .text(store), .text(bundle), .text(item.key), .integer(content.tag), content.cell,
            .text(item.source), .integer(seeding ?? 1),
          ])
      }
      return (true, [])
    }
  }

  /// The seeded defaults of a store by key. Where several bundles declare one key, the one that was
  /// seeded last counts.
  package func defaults(store: String) throws(KeepsakeError) -> [DefaultValue] {
    var seen: Set<ByteText> = []
    return try declarations(store: store).map(\.value)
      .filter { seen.insert(ByteText($0.key)).inserted }
      .sorted { ByteText($0.key) < ByteText($1.key) }
  }

  /// What every bundle declares, the one that was seeded last first; of those for a key the first
  /// counts.
  ///
  /// - Parameter key: only this key; nil for all.
  package func declarations(
    store: String, key: String? = nil
  ) throws(KeepsakeError) -> [(bundle: String, value: DefaultValue)] {
    try tables.access { connection in
      try connection.all(
        """
        SELECT key, type, value, source, bundle FROM default_value
        WHERE store = ?1 AND (?2 IS NULL OR key = ?2) ORDER BY seeding DESC, key
        """, [.text(store), key.map(Cell.text) ?? .null]
      ) { row in
        let content = row.content(1)
        let value = content.value ?? .opaque(OpaqueValue(content))
        return (row.text(4), DefaultValue(key: row.text(0), value: value, source: row.text(3)))
      }
    }
  }

  /// The stores that have seeded defaults, in order.
  package func seededStores() throws(KeepsakeError) -> [String] {
    try tables.access {
      try $0.all("SELECT DISTINCT store FROM default_value ORDER BY store") { $0.text(0) }
    }
  }
}
