// SPDX-License-Identifier: Apache-2.0
//
// An entry as a line of JSON: what `kvsync export` writes and `kvsync import` reads; and a row of a
// hub, which has timestamp and replica ID too, and loses nothing.
//
// - A date has its exact number beside the ISO text, which is rounded to milliseconds:
//   `"seconds"`, since 2001.
// - Arrays and dictionaries are as in the file, with exact numbers throughout.
// - A value that this version cannot read is `"type":"opaque"`, with the number of its type in
//   `"tag"`.

extension Entry {
  /// The members of an exported line.
  package func exported() throws(ValueError) -> [JSON.Member] {
    try members(value: content.value)
  }

  /// A row of a hub.
  package func row() throws(ValueError) -> JSON {
    var value = content.value
    // A value that another program has written in another form keeps it.
    if let readable = value, try TaggedCell(readable) != content {
      value = .opaque(OpaqueValue(content))
    }
    return .object(
      try members(value: value) + [
        JSON.Member("timestamp", .string(timestamp.description)),
        JSON.Member("replica", .string(replicaID.description)),
      ])
  }

  private func members(value: StoredValue?) throws(ValueError) -> [JSON.Member] {
    let milliseconds = timestamp.milliseconds
    let time = ISO8601.text(milliseconds: milliseconds).map(JSON.string) ?? .integer(milliseconds)
    return [
      JSON.Member("store", .string(address.store.string)),
      JSON.Member("key", .string(address.key.string)),
    ] + (try Self.members(of: value)) + [JSON.Member("at", time)]
  }

  private static func members(of value: StoredValue?) throws(ValueError) -> [JSON.Member] {
    guard let value else { return [JSON.Member("deleted", .boolean(true))] }
    let type = JSON.Member("type", .string(value.kind.rawValue))
    switch value {
    // Exact numbers, dates too.
    case .array, .dictionary: return [type, JSON.Member("value", try JSON(storing: value))]
    case .date(let date):
      let shown = JSON.Member("value", try JSON(showing: value))
      let seconds = try JSON(showing: .real(date.timeIntervalSinceReferenceDate))
      return shown.value == seconds
        ? [type, shown] : [type, shown, JSON.Member("seconds", seconds)]
    case .opaque(let opaque):
      return [
        type, JSON.Member("tag", .integer(opaque.tag)), JSON.Member("value", try opaque.json),
      ]
    default: return [type, JSON.Member("value", try JSON(showing: value))]
    }
  }

  /// Reads a row of a hub.
  ///
  /// - Throws: `ValueError` for what is no row of a synced store.
  package init(row: JSON) throws(ValueError) {
    guard case .string(let store)? = row["store"], StoreName.isSynced(store),
      case .string(let key)? = row["key"], !key.isEmpty
    else { throw ValueError(.invalid, "the row has no key, or no store that is synced") }
    guard let timestamp = row["timestamp"]?.hexadecimal,
      let replica = row["replica"]?.hexadecimal, replica > 0
    else {
      throw ValueError(
        .invalid, "the row has no timestamp, or no replica ID, of 16 hexadecimal digits")
    }
    let content = try TaggedCell(
      deleted: row["deleted"], type: row["type"], value: row["value"], seconds: row["seconds"],
      tag: row["tag"])
    self.init(
      Address(store: store, key: key), content,
      timestamp: HybridTimestamp(rawValue: timestamp), replicaID: ReplicaID(rawValue: replica))
  }
}

extension TaggedCell {
  /// Reads the members of a line that are about its value.
  package init(
    deleted: JSON?, type: JSON?, value: JSON?, seconds: JSON?, tag: JSON?
  ) throws(ValueError) {
    switch (deleted, type, value) {
    case (.boolean(true)?, nil, nil): self = .tombstone
    case (nil, .string(let name)?, let value?):
      guard let kind = StoredValue.Kind(rawValue: name) else {
        throw ValueError(
          .invalid,
          "there is no type \"\(name)\"; use string, integer, real, boolean, date, data,"
            + " array or dictionary")
      }
      do throws(ValueError) {
        try self.init(value, of: kind, tag: tag)
      } catch {
        throw ValueError(.invalid, "the value is not of type \(name): \(error)")
      }
      if let seconds { self = try Self.exact(seconds, self) }
    // JSON's own types, as people write them by hand.
    case (nil, nil, let value?) where seconds == nil && tag == nil:
      self = try TaggedCell(value.storedValue())
    default:
      throw ValueError(
        .invalid, "a line has either a value, or \"deleted\":true; fix it")
    }
  }

  /// The date that `rounded` is the rounded text of.
  private static func exact(
    _ seconds: JSON, _ rounded: TaggedCell
  ) throws(ValueError) -> TaggedCell {
    let exact = try JSON.object(["$date": seconds]).storedValue()
    guard rounded.tag == Tag.date.rawValue, let value = rounded.value,
      try JSON(showing: exact) == JSON(showing: value)
    else {
      throw ValueError(
        .invalid,
        "\"seconds\" is not the time of \"value\"; change both, or leave \"seconds\" out")
    }
    return try TaggedCell(exact)
  }
}

extension JSON {
  /// The number that 16 hexadecimal digits stand for, unless it is negative.
  package var hexadecimal: Int64? {
    if case .string(let text) = self { HexNumber.number(text) } else { nil }
  }
}
