// SPDX-License-Identifier: Apache-2.0

package import KeepsakeValues

/// How large an entry may be, on every device alike: an entry that one accepted and another refused
/// would never reach the other.
///
/// Far more than a setting needs, and so little that a merge can hold a few of them in memory.
package enum EntrySize {
  /// Bytes of a key, and of the name of a store, in UTF-8: 1 MiB.
  package static let maximumName = 1 << 20
  /// Bytes of a value as it is stored: 64 MiB.
  package static let maximumValue = 1 << 26
  /// Throws for a write that no other device would take.
  static func check(
    _ address: Address, _ content: TaggedCell, _ path: String
  ) throws(KeepsakeError) {
    for (what, name) in [("key", address.key), ("store name", address.store)] {
      guard name.string.utf8.count <= maximumName else {
        throw KeepsakeError(
          .invalidKey, path: path, "the \(what) is longer than \(maximumName) bytes",
          cure: "use a shorter one")
      }
    }
    guard content.cell.byteCount <= maximumValue else {
      throw KeepsakeError(
        .invalidValue, path: path,
        "the value of \(address.shortened) is larger than \(maximumValue) bytes",
        cure: "keep it in a file of its own")
    }
  }

  /// What is behind an error about an entry of a file that is too large for any device.
  package struct Excess: Error {}

  fileprivate static func tooLarge(_ address: Address, _ path: String) -> KeepsakeError {
    KeepsakeError(
      .corrupt, path: path, "\(address.shortened) is larger than any device accepts",
      cure: "do not trust this file; restore a backup of it", cause: Excess())
  }
}

extension Address {
  /// For messages.
  var shortened: String { "\(store.string.prefix(100))/\(key.string.prefix(100))" }
}

extension Connection {
  /// Measures entries one by one; throws for one that is too large, with its name.
  ///
  /// - Parameters:
  ///   - entries: the FROM clause of a SELECT, and what follows it; `e` is the entry.
  ///   - path: the file that they are in.
  ///   - body: called with a row of `lseq`, `store`, `key`, `value` and `hlc`, and the bytes of the
  ///     entry's key and value.
  package func measure(
    _ entries: String, _ arguments: [Cell] = [], in path: String,
    _ body: (_ row: Row, _ bytes: Int) throws -> Void
  ) throws {
    var count = 0
    do {
      try run("SELECT e.lseq, e.store, e.key, e.value, e.hlc \(entries)", arguments) { row in
        let (name, value) = (row.byteCount(2), row.byteCount(3))
        guard name <= EntrySize.maximumName, value <= EntrySize.maximumValue else {
          throw EntrySize.tooLarge(Address(store: row.text(1), key: row.text(2)), path)
        }
        try body(row, name + value)
        count += 1
        return true
      }
    } catch {
      guard KeepsakeError.isRowTooLarge(error) else { throw error }
      // The one after those that could be measured.
      let address = try first(
        "SELECT e.store, e.key \(entries) LIMIT 1 OFFSET \(count)", arguments
      ) { Address(store: $0.text(0), key: $0.text(1)) }
      throw address.map { EntrySize.tooLarge($0, path) } ?? error
    }
  }
}

extension Connection {
  private static var all: String { "FROM entry AS e ORDER BY e.store, e.key" }

  /// Throws for the first entry that no other device would take.
  ///
  /// - Parameter body: called as by `measure`, in the order of stores and keys.
  package func checkSizes(
    _ body: (_ row: Row, _ bytes: Int) throws -> Void = { _, _ in }
  ) throws { try measure(Self.all, in: path, body) }
}
