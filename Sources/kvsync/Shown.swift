// SPDX-License-Identifier: Apache-2.0
//
// Values and entries as the command prints them; the shapes are a contract with other programs.

import KeepsakeDevice
import KeepsakeValues

enum Shown {
  /// `{"type","value"}`.
  static func value(_ value: StoredValue) throws -> [JSON.Member] {
    [
      JSON.Member("type", .string(value.kind.rawValue)),
      JSON.Member("value", try JSON(showing: value)),
    ]
  }

  /// `{"type","value","modified","stamp","origin"}`, or `{"deleted":true,…}` for a tombstone.
  static func entry(_ entry: Entry) throws -> JSON {
    let content = try entry.content.value.map(value) ?? [JSON.Member("deleted", .boolean(true))]
    return .object(
      content + [
        JSON.Member("modified", time(entry.stamp)),
        JSON.Member("stamp", .string(entry.stamp.description)),
        JSON.Member("origin", .string(entry.origin.description)),
      ])
  }

  /// `{"type","value","source"}`.
  static func seed(_ seed: DefaultValue) throws -> JSON {
    .object(try value(seed.value) + [JSON.Member("source", .string(seed.source))])
  }

  static func change(_ change: Change, into path: String) throws -> JSON {
    .object([
      "into": .string(path), "store": .string(change.store), "key": .string(change.key),
      "old": try change.old.map { .object(try value($0)) } ?? .null,
      "new": try change.new.map { .object(try value($0)) } ?? .null,
      "origin": .string(change.origin.description),
    ])
  }

  private static func time(_ stamp: HybridTimestamp) -> JSON {
    ISO8601.text(milliseconds: stamp.milliseconds).map(JSON.string) ?? .integer(stamp.milliseconds)
  }

  /// A value alone, for a person or a shell: text as it is, containers as JSON.
  static func plain(_ value: StoredValue) throws -> String {
    switch try JSON(showing: value) {
    case .string(let text): text
    case let json: json.text()
    }
  }

  /// A value in a line of several: text in quotes, so that it has a beginning and an end.
  static func quoted(_ value: StoredValue?) throws -> String {
    guard let value else { return "nothing" }
    return try JSON(showing: value).text()
  }
}
