// SPDX-License-Identifier: Apache-2.0
//
// Values as lists show them: the beginning of their text.

#if Page
  import KeepsakeCommandLine
  import KeepsakeDevice
  import KeepsakeSync
  import KeepsakeValues

  enum Preview {
    /// The maximum number of characters of a value in a list.
    private static let most = 300

    /// `{"type","text","length"}`, where the length is that of the whole text in bytes; or
    /// `{"deleted":true}`.
    static func content(_ content: TaggedCell) -> [JSON.Member] {
      guard let value = content.value else { return [JSON.Member("deleted", .boolean(true))] }
      let text = text(value)
      return [
        JSON.Member("type", .string(value.kind.rawValue)),
        JSON.Member("text", .string(String(text.unicodeScalars.prefix(most)))),
        JSON.Member("length", .integer(Int64(text.utf8.count))),
      ]
    }

    /// Text as it is, containers as JSON.
    static func text(_ value: StoredValue) -> String {
      do { return text(try JSON(showing: value)) } catch {
        return "a value that cannot be shown: \(error)"
      }
    }

    private static func text(_ json: JSON) -> String {
      if case .string(let text) = json { text } else { json.text() }
    }

    /// A report with `{"type","text"}` for each `{"type","value"}`: a browser would round numbers.
    static func texts(_ json: JSON) -> JSON {
      switch json {
      case .array(let elements): return .array(elements.map(texts))
      case .object(let members):
        let isValue = members.contains { $0.name == "type" }
        return .object(
          members.map { member in
            isValue && member.name == "value"
              ? JSON.Member("text", .string(text(member.value)))
              : JSON.Member(member.name, texts(member.value))
          })
      default: return json
      }
    }

    /// A key that only has a seeded default.
    static func seed(_ address: Address, _ value: StoredValue) throws -> [JSON.Member] {
      [
        JSON.Member("store", .string(address.store.string)),
        JSON.Member("key", .string(address.key.string)),
      ] + content(try TaggedCell(value)) + [JSON.Member("seeded", .boolean(true))]
    }

    static func entry(_ entry: Entry) -> [JSON.Member] {
      [
        JSON.Member("store", .string(entry.address.store.string)),
        JSON.Member("key", .string(entry.address.key.string)),
      ] + content(entry.content) + Shown.provenance(entry.timestamp, entry.replicaID)
    }

    static func change(_ change: SettingChange) -> JSON {
      .object(
        [
          JSON.Member("store", .string(change.store)), JSON.Member("key", .string(change.key)),
          JSON.Member("old", .object(content(change.before))),
          JSON.Member("new", .object(content(change.after))),
        ] + Shown.provenance(change.timestamp, change.writer))
    }

    /// - Parameter present: the entry of the key.
    static func conflict(_ conflict: Conflict, _ present: Entry?) -> JSON {
      // The winner's value is known only if nothing was written since.
      let won = present.flatMap {
        $0.timestamp == conflict.winnerTimestamp && $0.replicaID == conflict.winnerReplicaID
          ? $0.content : nil
      }
      let winner = conflict.winnerIsDeletion ? .tombstone : won
      return .object([
        "id": .integer(conflict.id), "store": .string(conflict.store),
        "key": .string(conflict.key),
        "lost": .object(
          content(conflict.loser)
            + Shown.provenance(conflict.lostTimestamp, conflict.lostReplicaID)),
        "won": .object(
          (winner.map(content) ?? [])
            + Shown.provenance(conflict.winnerTimestamp, conflict.winnerReplicaID)),
        "now": winner == nil ? .object(present.map(entry) ?? []) : nil,
        "found": Shown.time(conflict.foundAt), "resolved": .boolean(conflict.isResolved),
        "stamp": .string(PageEndpoints.stamp(present)),
      ])
    }
  }
#endif
