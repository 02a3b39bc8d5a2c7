// SPDX-License-Identifier: Apache-2.0

package import KeepsakeValues

/// The limits on the size of an entry, the same on every device: an entry that one device accepted
/// and another refused would never reach the other.
package enum EntrySize {
  /// The maximum size of a key, and of the name of a store, in bytes of UTF-8.
  package static let maximumName = 1024
  /// The maximum size of a stored value in a store that syncs: 1 MiB. A hub takes it too,
  /// unless its JSON is longer than a message.
  static let maximumSyncedValue = 1 << 20
  /// The maximum size of a stored value in any other store: 16 MiB.
  static let maximumLocalValue = 1 << 24

  /// The maximum size of a stored value in a store.
  private static func maximumValue(in store: ByteText) -> Int {
    StoreName.isSynced(store.string) ? maximumSyncedValue : maximumLocalValue
  }

  /// Throws for a write that no other device would accept.
  ///
  /// - Parameter limits: of the store; an error about what they refuse too is theirs.
  static func check(
    _ address: Address, _ content: TaggedCell, _ limits: StoreLimits?, _ path: String
  ) throws(KeepsakeError) {
    let (key, value) = (address.key.string.utf8.count, content.cell.byteCount)
    if let problem = nameProblem(address) {
      let code: KeepsakeError.Code = key > limits?.keyBytes ?? key ? .quotaExceeded : .invalidKey
      throw KeepsakeError(code, path: path, problem, cure: "use a shorter one")
    }
    if let problem = valueProblem(address, value) {
      let code: KeepsakeError.Code =
        value > limits?.valueBytes ?? value ? .quotaExceeded : .invalidValue
      throw KeepsakeError(code, path: path, problem, cure: "keep it in a file of its own")
    }
  }

  /// Describes the limit that an entry of another device exceeds; nil if it exceeds none.
  package static func problem(_ entry: Entry) -> String? {
    nameProblem(entry.address) ?? valueProblem(entry.address, entry.content.cell.byteCount)
  }

  /// Whether an entry of a synced store exceeds a limit.
  package static func isTooLarge(key: Int, value: Int) -> Bool {
    key > maximumName || value > maximumSyncedValue
  }

  private static func nameProblem(_ address: Address) -> String? {
    func problem(_ what: String, _ name: ByteText) -> String? {
      let size = name.string.utf8.count
      guard size > maximumName else { return nil }
      return "the \(what) of \(address.shortened) has \(size) bytes, "
        + "more than the limit of \(maximumName)"
    }
    return problem("key", address.key) ?? problem("store name", address.store)
  }

  /// - Parameter size: nil for more than SQLite reads.
  private static func valueProblem(_ address: Address, _ size: Int?) -> String? {
    let limit = maximumValue(in: address.store)
    guard let size else {
      return "the value of \(address.shortened) is far larger than the limit of \(limit) bytes"
    }
    guard size > limit else { return nil }
    return "the value of \(address.shortened) has \(size) bytes, more than the limit of \(limit)"
  }

  /// The cure for an entry that SQLite does not read.
  private static let farTooLarge = "do not trust this file; restore a backup of it"

  /// The error for an entry of a file; nil for an entry within the limits.
  fileprivate static func excess(
    _ address: Address, _ size: Int?, in path: String
  ) -> KeepsakeError? {
    // A write reads the old value first, which SQLite refuses if it is far too large.
    let cure = size == nil ? farTooLarge : "set a smaller one, or delete the key"
    return (nameProblem(address) ?? valueProblem(address, size)).map {
      KeepsakeError.rowTooLarge(path: path, $0, cure: cure)
    }
  }
}

extension EntrySize {
  /// The error for an entry whose name is too large to be read.
  ///
  /// - Parameter store: nil if it is the store's name.
  fileprivate static func excess(
    ofNameAt number: Int64, in store: String?, _ path: String
  ) -> KeepsakeError {
    let name = store.map { "key of an entry of the store \($0.prefix(100))" }
    return KeepsakeError.rowTooLarge(
      path: path,
      "the \(name ?? "store name of an entry") is far larger than the limit of \(maximumName) "
        + "bytes (sequence number \(number))", cure: farTooLarge)
  }
}

extension Address {
  /// For messages.
  var shortened: String { "\(store.string.prefix(100))/\(key.string.prefix(100))" }
}

extension Connection {
  /// Measures entries one by one; throws for the first that exceeds a limit, with its name.
  ///
  /// - Parameters:
  ///   - entries: the FROM clause of a SELECT, and what follows it; `e` is the entry.
  ///   - path: the file that they are in.
  ///   - limits: false for SQLite's limits alone.
  ///   - body: called with a row of `sequence_number`, `store`, `key`, `value`, and the bytes of
  ///     the entry's key and value.
  package func measure(
    _ entries: String, _ arguments: [Cell] = [], in path: String, limits: Bool = true,
    _ body: (_ row: Row, _ bytes: Int) throws -> Void
  ) throws {
    var count = 0
    do {
      try run("SELECT e.sequence_number, e.store, e.key, e.value \(entries)", arguments) { row in
        let (store, key, value) = (row.byteCount(1), row.byteCount(2), row.byteCount(3))
        // A tombstone has no value; its name may be one that was deleted for its length.
        let isLong = max(store, key) > EntrySize.maximumName && row.cell(3) != .null
        if limits, isLong || value > EntrySize.maximumSyncedValue {
          let address = Address(store: row.text(1), key: row.text(2))
          if let error = EntrySize.excess(address, value, in: path) { throw error }
        }
        try body(row, key + value)
        count += 1
        return true
      }
    } catch {
      guard KeepsakeError.isRowTooLarge(error) else { throw error }
      // The one after those that could be measured.
      throw try excess("\(entries) LIMIT 1 OFFSET \(count)", arguments, in: path) ?? error
    }
  }

  /// The error for an entry that SQLite refuses, which is named by what SQLite reads of it.
  private func excess(
    _ entry: String, _ arguments: [Cell], in path: String
  ) throws -> KeepsakeError? {
    func read<Value>(_ columns: String, _ read: (Row) -> Value) throws -> Value? {
      do {
        return try first("SELECT \(columns) \(entry)", arguments, read)
      } catch where KeepsakeError.isRowTooLarge(error) {
        return nil
      }
    }
    let address = try read("e.store, e.key") { Address(store: $0.text(0), key: $0.text(1)) }
    if let address { return EntrySize.excess(address, nil, in: path) }
    guard let number = try read("e.sequence_number", { $0.integer(0) }) else { return nil }
    let store = try read("e.store") { $0.text(0) }
    return EntrySize.excess(ofNameAt: number, in: store, path)
  }

  /// Whether any entry may exceed a limit: O(entries), and faster than to measure them.
  func mayHaveLargeEntries(where condition: String) throws -> Bool {
    do {
      return try first(
        """
        SELECT 1 FROM entry AS e WHERE (\(condition))
          AND (length(CAST(value AS BLOB)) > \(EntrySize.maximumSyncedValue)
            OR length(CAST(key AS BLOB)) > \(EntrySize.maximumName)
            OR length(CAST(store AS BLOB)) > \(EntrySize.maximumName)) LIMIT 1
        """
      ) { _ in true } ?? false
    } catch where KeepsakeError.isRowTooLarge(error) {
      return true
    }
  }

  /// Throws for the first entry that no other device would accept.
  ///
  /// - Parameters:
  ///   - condition: only for those entries `e`.
  ///   - body: called as by `measure`, in the order of stores and keys.
  package func checkSizes(
    where condition: String = "true",
    _ body: (_ row: Row, _ bytes: Int) throws -> Void = { _, _ in }
  ) throws {
    try measure("FROM entry AS e WHERE \(condition) ORDER BY e.store, e.key", in: path, body)
  }

  /// Throws for the first entry that SQLite does not read, with its name.
  package func checkReadable() throws {
    try measure("FROM entry AS e ORDER BY e.store, e.key", in: path, limits: false) { _, _ in }
  }
}
