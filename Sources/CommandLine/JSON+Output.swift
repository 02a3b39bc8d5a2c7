// SPDX-License-Identifier: Apache-2.0
//
// Values and entries as JSON; the shapes are a contract with other programs.

package import KeepsakeDevice
package import KeepsakeSettingsBundle
package import KeepsakeValues

extension JSON {
  /// `{"type","value"}`.
  package static func typeAndValue(of value: StoredValue) throws -> [Member] {
    [
      Member("type", .string(value.kind.rawValue)), Member("value", try JSON(showing: value)),
    ]
  }

  /// `{"type","value"}`, or null.
  package static func valueOrNull(_ content: TaggedCell?) throws -> JSON {
    try content?.value.map { .object(try typeAndValue(of: $0)) } ?? .null
  }

  /// `{"type","value"}`, or `{"deleted":true}` for a tombstone.
  package static func content(_ content: TaggedCell) throws -> [Member] {
    try content.value.map { try typeAndValue(of: $0) } ?? [Member("deleted", .boolean(true))]
  }

  /// The content, `"modified"`, `"timestamp"` and `"origin"`.
  package static func entry(_ entry: Entry) throws -> JSON {
    .object(
      try content(entry.content) + provenance(of: entry.timestamp, by: entry.replicaID))
  }

  /// The time of a write, and the device that made it.
  package static func provenance(
    of timestamp: HybridTimestamp, by origin: ReplicaID
  ) -> [Member] {
    [
      Member("modified", time(timestamp.date)),
      Member("timestamp", .string(timestamp.description)),
      Member("origin", .string(origin.description)),
    ]
  }

  /// `{"type","value","source"}`.
  package static func seed(_ seed: DefaultValue) throws -> JSON {
    .object(try typeAndValue(of: seed.value) + [Member("source", .string(seed.source))])
  }

  /// A change of a device that was merged into.
  static func change(_ change: SettingChange, into path: String) throws -> JSON {
    .object(
      [Member("into", .string(path))] + (try members(of: change)) + [
        Member("origin", .string(change.writer.description))
      ])
  }

  /// A change of a device that is watched.
  static func change(_ change: SettingChange) throws -> JSON {
    .object(
      try members(of: change) + provenance(of: change.timestamp, by: change.writer) + [
        Member("reason", .string(change.reason == .local ? "local" : "merge"))
      ])
  }

  private static func members(of change: SettingChange) throws -> [Member] {
    [
      Member("store", .string(change.store)), Member("key", .string(change.key)),
      Member("old", try valueOrNull(change.before)), Member("new", try valueOrNull(change.after)),
    ]
  }

  /// The place of a finding or a warning: `{"file","line","column"}`, or `{"file","keyPath"}` if
  /// the file has no lines.
  package static func place(of problem: PropertyListError) -> [Member] {
    let file = Member("file", .string(problem.file))
    guard let position = problem.position else {
      return [file, Member("keyPath", problem.keyPath.map(JSON.string) ?? .null)]
    }
    return [
      file, Member("line", .integer(Int64(position.line))),
      Member("column", .integer(Int64(position.column))),
    ]
  }

  /// A time as ISO 8601, or in milliseconds since 1970 if it is out of range.
  package static func time(_ date: Date) -> JSON {
    ISO8601.text(milliseconds: date.milliseconds).map(JSON.string) ?? .integer(date.milliseconds)
  }
}

extension Date {
  /// This time as ISO 8601, or in milliseconds since 1970 if it is out of range.
  package var iso8601: String { ISO8601.text(milliseconds: milliseconds) ?? "\(milliseconds)" }
}
