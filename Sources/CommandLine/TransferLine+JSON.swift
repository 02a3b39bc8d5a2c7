// SPDX-License-Identifier: Apache-2.0
//
// How `export` writes the lines that `TransferLine` describes.

package import KeepsakeFormats
package import KeepsakeValues

extension TransferLine {
  /// The line of an entry.
  package static func json(_ entry: Entry) throws -> JSON {
    let address = [
      JSON.Member("store", .string(entry.address.store.string)),
      JSON.Member("key", .string(entry.address.key.string)),
    ]
    let content =
      try entry.content.value.map(members) ?? [JSON.Member("deleted", .boolean(true))]
    let time = JSON.Member("at", Shown.time(entry.timestamp.date))
    return .object(address + content + [time])
  }

  private static func members(_ value: StoredValue) throws -> [JSON.Member] {
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
}
