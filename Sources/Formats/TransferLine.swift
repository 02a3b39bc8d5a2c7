// SPDX-License-Identifier: Apache-2.0
//
// One line that `import` reads. `Entry+JSON.swift` describes it.

package import KeepsakeValues

package struct TransferLine {
  package let store: String
  package let key: String
  /// A tombstone is a deletion.
  package let content: TaggedCell
  /// The clock for this line, in milliseconds since 1970.
  package let time: Int64?
}

/// What is wrong with a line; what to do.
struct LineError: Error {
  let message: String

  init(_ message: String) { self.message = message }
}

// MARK: - Reading

/// The members of a line by name, found in one pass: a search for each name would cost more.
private struct LineMembers {
  var at, deleted, key, seconds, store, tag, type, value: JSON?

  init(_ members: [JSON.Member]) throws {
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
        throw LineError(
          "there is no member \"\(member.name)\"; "
            + "use at, deleted, key, seconds, store, tag, type, value")
      }
    }
  }
}

extension TransferLine {
  /// - Parameter store: the store of a line that names none.
  init(_ line: JSON, store: String) throws {
    guard case .object(let members) = line else {
      throw LineError("this is not an object; write {\"key\":…,\"type\":…,\"value\":…}")
    }
    let line = try LineMembers(members)
    guard case .string(let key)? = line.key, !key.isEmpty else {
      throw LineError("there is no key; add \"key\" with a text that is not empty")
    }
    guard case .string(let store) = line.store ?? .string(store), !store.isEmpty else {
      throw LineError("the store is not a name; write a text that is not empty")
    }
    self.init(
      store: store, key: key, content: try Self.content(line), time: try Self.time(line))
  }

  private static func content(_ line: LineMembers) throws -> TaggedCell {
    do throws(ValueError) {
      return try TaggedCell(
        deleted: line.deleted, type: line.type, value: line.value, seconds: line.seconds,
        tag: line.tag)
    } catch {
      throw LineError("\(error)")
    }
  }

  private static func time(_ line: LineMembers) throws -> Int64? {
    let milliseconds: Int64? =
      switch line.at {
      case nil: nil
      case .integer(let number)?: number
      case .string(let text)?: ISO8601.milliseconds(text) ?? -1
      default: -1
      }
    guard let milliseconds else { return nil }
    guard (0...HybridTimestamp.maximumMilliseconds).contains(milliseconds) else {
      throw LineError(
        "\"at\" is not a time from 1970 to 6429; write ISO 8601, or milliseconds since 1970")
    }
    return milliseconds
  }
}
