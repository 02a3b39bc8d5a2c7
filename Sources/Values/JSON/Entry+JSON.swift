// SPDX-License-Identifier: Apache-2.0
//
// An entry as a line of JSON, which `kvsync export` writes and `kvsync import` reads; and as a row
// of a hub, which also has timestamp and replica ID, and loses nothing.
//
// - The text of a date is rounded to milliseconds; `"seconds"` has the exact number, since 2001.
// - Arrays and dictionaries have the stored form, in which all numbers are exact.
// - A value that this version cannot read is `"type":"opaque"`, and `"tag"` has its type number.

extension Entry {
  /// The members of an exported line.
  package func exported() throws(ValueError) -> [JSON.Member] {
    try members(value: content.value)
  }

  /// The row of this entry on a hub.
  package func row() throws(ValueError) -> JSON {
    var value = content.value
    // Another program may have written the value in another form: keep that form.
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
    ] + (try Self.valueMembers(value)) + [JSON.Member("at", time)]
  }

  private static func valueMembers(_ value: StoredValue?) throws(ValueError) -> [JSON.Member] {
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
        type, JSON.Member("tag", .integer(opaque.content.tag)),
        JSON.Member("value", try opaque.json),
      ]
    default: return [type, JSON.Member("value", try JSON(showing: value))]
    }
  }

  /// Reads a row of a hub.
  ///
  /// - Throws: `ValueError` for JSON that is not a row of a synced store.
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
  /// Reads the members of a line that describe the value.
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
        try self.init(
          kind == .opaque
            ? .opaque(OpaqueValue(tag: tag, json: value)) : value.storedValue(of: kind))
      } catch {
        throw ValueError(.invalid, "the value is not of type \(name): \(error)")
      }
      if let seconds { try replaceRoundedDate(with: seconds) }
    // JSON's own types, which people write by hand.
    case (nil, nil, let value?) where seconds == nil && tag == nil:
      self = try TaggedCell(value.storedValue())
    default:
      throw ValueError(
        .invalid, "a line has either a value, or \"deleted\":true; fix it")
    }
  }

  private mutating func replaceRoundedDate(with seconds: JSON) throws(ValueError) {
    let exact = try JSON.object(["$date": seconds]).storedValue()
    guard tag == Tag.date.rawValue, let value, try JSON(showing: exact) == JSON(showing: value)
    else {
      throw ValueError(
        .invalid,
        "\"seconds\" is not the time of \"value\"; change both, or leave \"seconds\" out")
    }
    self = try TaggedCell(exact)
  }
}

extension JSON {
  /// The number that a string of 16 hexadecimal digits means; nil if it is negative.
  package var hexadecimal: Int64? {
    if case .string(let text) = self { HexNumber.number(text) } else { nil }
  }
}
