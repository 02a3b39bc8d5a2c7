// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

extension HubAnswer {
  /// The answer as JSON lines.
  package func text(_ limits: HubLimits) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(rows.reduce(1_024) { $0 + Int($1.size) + 64 })
    let cursor = knowsCursor ? "known" : "unknown"
    bytes += #"{"newest":"\#(newest.text)","cursor":"\#(cursor)","isLast":\#(isLast)"#.utf8
    bytes += #","rowBytes":\#(limits.rowBytes),"rows":\#(rows.count)"#.utf8
    if let deviceMark {
      bytes += #","mark":"#.utf8
      JSON.string(String(decoding: deviceMark, as: UTF8.self)).write(to: &bytes)
    }
    bytes += #","vectors":\#(vectors.count)}"#.utf8
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
