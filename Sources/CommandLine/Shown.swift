// SPDX-License-Identifier: Apache-2.0
//
// Values and entries as the command prints them; the shapes are a contract with other programs.

package import KeepsakeDevice
package import KeepsakeSettingsBundle
package import KeepsakeValues

package enum Shown {
  /// `{"type","value"}`.
  package static func value(_ value: StoredValue) throws -> [JSON.Member] {
    [
      JSON.Member("type", .string(value.kind.rawValue)),
      JSON.Member("value", try JSON(showing: value)),
    ]
  }

  /// `{"type","value","modified","timestamp","origin"}`, or `{"deleted":true,…}` for a tombstone.
  package static func entry(_ entry: Entry) throws -> JSON {
    let content = try entry.content.value.map(value) ?? [JSON.Member("deleted", .boolean(true))]
    return .object(content + provenance(entry.timestamp, entry.replicaID))
  }

  /// When a write was made, and by which device.
  package static func provenance(
    _ timestamp: HybridTimestamp, _ origin: ReplicaID
  ) -> [JSON.Member] {
    [
      JSON.Member("modified", time(timestamp.date)),
      JSON.Member("timestamp", .string(timestamp.description)),
      JSON.Member("origin", .string(origin.description)),
    ]
  }

  /// `{"type","value","source"}`.
  package static func seed(_ seed: DefaultValue) throws -> JSON {
    .object(try value(seed.value) + [JSON.Member("source", .string(seed.source))])
  }

  /// A change of a device that was merged into.
  package static func change(_ change: SettingChange, into path: String) throws -> JSON {
    .object(
      [JSON.Member("into", .string(path))] + (try members(change)) + [
        JSON.Member("origin", .string(change.writer.description))
      ])
  }

  /// A change of a device that is watched.
  package static func change(_ change: SettingChange) throws -> JSON {
    .object(
      try members(change) + provenance(change.timestamp, change.writer) + [
        JSON.Member("reason", .string(change.reason == .local ? "local" : "merge"))
      ])
  }

  private static func members(_ change: SettingChange) throws -> [JSON.Member] {
    [
      JSON.Member("store", .string(change.store)), JSON.Member("key", .string(change.key)),
      JSON.Member("old", try optional(change.before)),
      JSON.Member("new", try optional(change.after)),
    ]
  }

  /// The place of a finding or a warning: `{"file","line","column"}`, or `{"file","keyPath"}` if
  /// the file has no lines.
  package static func place(_ problem: PropertyListError) -> [JSON.Member] {
    let file = JSON.Member("file", .string(problem.file))
    guard let position = problem.position else {
      return [file, JSON.Member("keyPath", problem.keyPath.map(JSON.string) ?? .null)]
    }
    return [
      file, JSON.Member("line", .integer(Int64(position.line))),
      JSON.Member("column", .integer(Int64(position.column))),
    ]
  }

  /// `{"type","value"}`, or null.
  package static func optional(_ content: TaggedCell?) throws -> JSON {
    try content?.value.map { .object(try self.value($0)) } ?? .null
  }

  /// A time as ISO 8601, or in milliseconds since 1970 if it is out of range.
  package static func time(_ date: Date) -> JSON {
    ISO8601.text(milliseconds: date.milliseconds).map(JSON.string) ?? .integer(date.milliseconds)
  }

  /// The same time as text.
  package static func text(_ date: Date) -> String {
    ISO8601.text(milliseconds: date.milliseconds) ?? "\(date.milliseconds)"
  }

  package static func text(_ timestamp: HybridTimestamp) -> String { text(timestamp.date) }

  /// A key, a store or a file in a line: one with a tab or a line break in it would fake a column
  /// or a line.
  package static func name(_ name: String) -> String {
    name.unicodeScalars.contains(where: \.needsEscape) ? "\(Quoted(.string(name)))" : name
  }

  /// A value alone, for a person or a shell: text as it is, containers as JSON.
  package static func plain(_ value: StoredValue) throws -> Line {
    switch try JSON(showing: value) {
    case .string(let text): Line(text)
    case let json: Line(json)
    }
  }

  /// A value in a line of several: text in quotes, so that it has a beginning and an end.
  package static func quoted(_ value: StoredValue) throws -> Quoted {
    Quoted(try JSON(showing: value))
  }

  /// The values of a key before and after a change.
  package static func change(from before: TaggedCell, to after: TaggedCell) throws -> Line {
    let (before, after) = (
      try quoted(before, or: "nothing"), try quoted(after, or: "nothing")
    )
    return "\(before, .old) -> \(after, .new)"
  }

  /// A value in quotes, or the text for a deletion or no value.
  package static func quoted(_ content: TaggedCell, or absence: String) throws -> Line {
    try content.value.map { "\(try quoted($0))" } ?? Line(absence)
  }

  /// Prints a change of a device that is watched.
  package static func print(_ change: SettingChange, isJSON: Bool) throws {
    guard !isJSON else { return Output.standardOutput([Line(try self.change(change))]) }
    let place = "\(name(change.store))/\(name(change.key))"
    let shown = try self.change(from: change.before, to: change.after)
    Output.standardOutput(["\(place, .key): \(shown)"])
  }
}
