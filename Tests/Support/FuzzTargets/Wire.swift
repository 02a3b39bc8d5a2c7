// SPDX-License-Identifier: Apache-2.0
//
// Not for libFuzzer: these readers are in a module that takes SQLite and the network with it.

#if canImport(KeepsakeHub)
  import KeepsakeHub
  import KeepsakeSync
  import KeepsakeValues

  /// Reads what a hub sends: as a page of rows and as events.
  func readWire(_ bytes: [UInt8]) throws(Finding) {
    let page = Result { () throws(ValueError) in try HubPageAnswer(lines: bytes, clock: 0) }
    if case .success(let page) = page { try checkRows(page.rows) }
    let whole = events(of: bytes, inPiecesOf: max(1, bytes.count))
    let pieces = events(of: bytes, inPiecesOf: bytes.count % 7 + 1)
    try demand(whole == pieces, "events whole: \(whole as Any), in pieces: \(pieces as Any)")
  }

  /// What is accepted has to come back from its text as the same.
  private func checkRows(_ rows: [Entry]) throws(Finding) {
    for row in rows {
      let again = Result { try Entry(row: try row.row()) }
      guard case .success(row) = again else {
        throw Finding(description: "the row \(row) comes back as \(again)")
      }
    }
  }

  /// Nil where they are no stream of events, wherever that is found.
  private func events(of bytes: [UInt8], inPiecesOf size: Int) -> [String]? {
    var (parser, rest, events) = (EventParser(), bytes[...], [String]())
    while !rest.isEmpty {
      guard let more = parser.take(Array(rest.prefix(size))) else { return nil }
      events += more
      rest = rest.dropFirst(size)
    }
    return events
  }
#endif
