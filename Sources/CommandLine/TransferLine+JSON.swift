// SPDX-License-Identifier: Apache-2.0
//
// How `export` writes the lines that `TransferLine` describes.

import KeepsakeTransfer
import KeepsakeValues

extension TransferLine {
  static func json(_ entry: Entry) throws -> JSON {
    let address = [
      JSON.Member("store", .string(entry.address.store.string)),
      JSON.Member("key", .string(entry.address.key.string)),
    ]
    let content =
      try entry.content.undecoded.map(members) ?? [JSON.Member("deleted", .boolean(true))]
    let time = JSON.Member("at", Shown.time(entry.timestamp.date))
    return .object(address + content + [time])
  }

  private static func members(_ value: UndecodedValue) throws -> [JSON.Member] {
    let type = JSON.Member("type", .string(value.kind.rawValue))
    switch value {
    case .container(let text):
      return [type, JSON.Member("value", .container(text, isShown: false))]
    case .decoded(.date(let date)):
      let shown = JSON.Member("value", try JSON(showing: value))
      let seconds = try JSON(showing: .real(date.timeIntervalSinceReferenceDate))
      return shown.value == seconds
        ? [type, shown] : [type, shown, JSON.Member("seconds", seconds)]
    case .decoded(.opaque(let opaque)):
      return [
        type, JSON.Member("tag", .integer(opaque.tag)), JSON.Member("value", try opaque.json),
      ]
    case .decoded: return [type, JSON.Member("value", try JSON(showing: value))]
    }
  }
}
