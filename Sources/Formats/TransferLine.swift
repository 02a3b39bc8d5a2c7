// SPDX-License-Identifier: Apache-2.0

package import KeepsakeValues

/// A line that `import` reads. `Entry+JSON.swift` describes its members.
package struct TransferLine {
  package let store: String
  package let key: String
  /// A tombstone is a deletion.
  package let content: TaggedCell
  /// The wall clock of this write, in milliseconds since 1970.
  package let time: Int64?
}

// MARK: - Reading

/// The members of a line by name, found in one pass: a search for each name would take longer.
private struct LineMembers {
  var at, deleted, key, seconds, store, tag, type, value: JSON?

  init(_ members: [JSON.Member]) throws(ValueError) {
    for member in members {
      // The most frequent ones first: each case is a comparison.
      switch member.name {
      case "key": key = member.value
      case "type": type = member.value
      case "value": value = member.value
      case "store": store = member.value
      case "at": at = member.value
      case "deleted": deleted = member.value
      case "seconds": seconds = member.value
      case "tag": tag = member.value
      default:
        throw ValueError(
          .invalid,
          "there is no member \"\(member.name)\"; "
            + "use at, deleted, key, seconds, store, tag, type, value")
      }
    }
  }
}

extension TransferLine {
  /// - Parameter store: the store of a line without `"store"`.
  init(_ line: JSON, store: String) throws(ValueError) {
    guard case .object(let members) = line else {
      throw ValueError(
        .invalid, "this is not an object; write {\"key\":…,\"type\":…,\"value\":…}")
    }
    let line = try LineMembers(members)
    guard case .string(let key)? = line.key, !key.isEmpty else {
      throw ValueError(.invalid, "there is no key; add \"key\" with a text that is not empty")
    }
    guard case .string(let store) = line.store ?? .string(store), !store.isEmpty else {
      throw ValueError(.invalid, "the store is not a name; write a text that is not empty")
    }
    let content = try TaggedCell(
      deleted: line.deleted, type: line.type, value: line.value, seconds: line.seconds,
      tag: line.tag)
    self.init(store: store, key: key, content: content, time: try Self.time(line.at))
  }

  private static func time(_ at: JSON?) throws(ValueError) -> Int64? {
    let milliseconds: Int64? =
      switch at {
      case nil: nil
      case .integer(let number)?: number
      case .string(let text)?: ISO8601.milliseconds(text) ?? -1
      default: -1
      }
    guard let milliseconds else { return nil }
    guard (0...HybridTimestamp.maximumMilliseconds).contains(milliseconds) else {
      throw ValueError(
        .invalid,
        "\"at\" is not a time from 1970 to 6429; write ISO 8601, or milliseconds since 1970")
    }
    return milliseconds
  }
}
