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
  static func check(
    _ address: Address, _ content: TaggedCell, _ path: String
  ) throws(KeepsakeError) {
    if let problem = nameProblem(address) {
      throw KeepsakeError(.invalidKey, path: path, problem, cure: "use a shorter one")
    }
    if let problem = valueProblem(address, content.cell.byteCount) {
      throw KeepsakeError(
        .invalidValue, path: path, problem, cure: "keep it in a file of its own")
    }
  }

  /// Describes the limit that an entry of another device exceeds; nil if it exceeds none.
  package static func problem(_ entry: Entry) -> String? {
    problem(entry.address, entry.content.cell.byteCount)
  }

  /// - Parameter size: bytes of the entry's value.
  static func problem(_ address: Address, _ size: Int) -> String? {
    nameProblem(address) ?? valueProblem(address, size)
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

  private static func valueProblem(_ address: Address, _ size: Int) -> String? {
    let limit = maximumValue(in: address.store)
    guard size > limit else { return nil }
    return "the value of \(address.shortened) has \(size) bytes, more than the limit of \(limit)"
  }
}

extension Address {
  /// For messages.
  var shortened: String { "\(store.string.prefix(100))/\(key.string.prefix(100))" }
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
