// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

extension HubAnswer {
  /// The answer as JSON lines.
  package func text(_ limits: HubLimits) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(rows.reduce(1_024) { $0 + Int($1.size) + 64 })
    JSON.object([
      "newest": .string(newest.text), "cursor": .string(knowsCursor ? "known" : "unknown"),
      "isLast": .boolean(isLast), "rowBytes": .integer(Int64(limits.rowBytes)),
      "rows": .integer(Int64(rows.count)),
      "mark": deviceMark.map { .string(String(decoding: $0, as: UTF8.self)) },
      "vectors": .integer(Int64(vectors.count)),
    ]).write(to: &bytes)
    bytes.append(UInt8(ascii: "\n"))
    for body in vectors {
      bytes += body
      bytes.append(UInt8(ascii: "\n"))
    }
    for row in rows { row.write(to: &bytes) }
    return bytes
  }
}

extension HubRow {
  /// Writes the row as a line of an answer.
  package func write(to bytes: inout [UInt8]) {
    bytes += #"{"key":"#.utf8
    JSON.string(String(decoding: key, as: UTF8.self)).write(to: &bytes)
    bytes += #","seq":\#(number)"#.utf8
    if isDeleted { bytes += #","deleted":true"#.utf8 }
    bytes += #","row":"#.utf8
    bytes += body
    bytes += "}\n".utf8
  }
}
