// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

/// How much a store may come to hold by writes on this device. What other devices wrote comes in
/// whatever it holds.
public struct StoreLimits: Sendable, Hashable {
  /// Bytes of all values together: text and data by their bytes (text in UTF-8), arrays and
  /// dictionaries by what is stored of them, everything else by eight. Keys do not count.
  public var totalBytes: Int
  /// Keys that have a value.
  public var keyCount: Int
  /// Bytes of one value. A store that syncs accepts at most 1 MiB, any other store 16 MiB.
  public var valueBytes: Int
  /// Bytes of one key in UTF-8. A store accepts at most 1,024.
  public var keyBytes: Int

  /// Limits of your own, as the properties say.
  public init(totalBytes: Int, keyCount: Int, valueBytes: Int, keyBytes: Int) {
    self.totalBytes = totalBytes
    self.keyCount = keyCount
    self.valueBytes = valueBytes
    self.keyBytes = keyBytes
  }

  /// Those of iCloud's key-value store: 1 MB in all and for one value, 1,024 keys of at most 64
  /// bytes. https://developer.apple.com/documentation/foundation/nsubiquitouskeyvaluestore
  public static let iCloud = StoreLimits(
    totalBytes: 1 << 20, keyCount: 1024, valueBytes: 1 << 20, keyBytes: 64)
}

extension StoreLimits {
  /// Throws when a write would go over a limit. One that makes a store smaller never does, so that
  /// a store that a merge has filled can be emptied.
  ///
  /// O(keys of the store).
  func check(
    _ connection: Connection, _ address: Address, _ new: TaggedCell, replacing old: TaggedCell
  ) throws {
    guard !new.isTombstone else { return }
    func refuse(_ problem: String, _ cure: String) -> KeepsakeError {
      KeepsakeError(.quotaExceeded, path: connection.path, problem, cure: cure)
    }
    let entry = address.shortened
    let size = new.cell.byteCount
    let grown = size - (old.isTombstone ? 0 : old.cell.byteCount)
    guard grown > 0 || old.isTombstone else { return }
    let keySize = address.key.string.utf8.count
    guard keySize <= keyBytes else {
      throw refuse(
        "the key of \(entry) has \(keySize) bytes, more than the limit of \(keyBytes)",
        "use a shorter one")
    }
    guard size <= valueBytes else {
      throw refuse(
        "the value of \(entry) has \(size) bytes, more than the limit of \(valueBytes)",
        "keep it in a file of its own")
    }
    let used = try connection.usage(store: address.store)
    guard !old.isTombstone || used.keys < keyCount else {
      throw refuse(
        "\(entry) is one key too many: the store has \(keyCount)",
        "remove one, or put several into one")
    }
    guard used.bytes + grown <= totalBytes else {
      throw refuse(
        "with \(entry) the store would hold more than \(totalBytes) bytes", "remove something")
    }
  }
}

extension Connection {
  /// How many keys have a value in a store, and how many bytes those are.
  fileprivate func usage(store: ByteText) throws -> (keys: Int, bytes: Int) {
    try first(
      """
      SELECT count(*), ifnull(sum(CASE typeof(value)
        WHEN 'text' THEN length(CAST(value AS BLOB)) WHEN 'blob' THEN length(value) ELSE 8 END), 0)
      FROM entry WHERE store = ?1 AND type <> 0
      """, [.text(store.string)]
    ) { (Int($0.integer(0)), Int($0.integer(1))) } ?? (0, 0)
  }
}

extension Cell {
  /// Bytes of text and data; 8 of everything else.
  package var byteCount: Int {
    switch self {
    case .text(let text): text.utf8.count
    case .blob(let bytes): bytes.count
    case .null, .integer, .real: 8
    }
  }
}
