// SPDX-License-Identifier: Apache-2.0
//
// Not for libFuzzer: these readers are in a module that takes SQLite and the network with it.

#if canImport(KeepsakeHub)
  import KeepsakeHub
  import KeepsakeSync

  /// Reads what a device and a hub say to each other: as a request, as an answer and as events.
  func readWire(_ bytes: [UInt8]) throws(Finding) {
    try expectReturn(of: bytes, "request") { text throws(MessageError) in
      try HubRequest(text)
    } text: {
      try $0.text()
    }
    try expectReturn(of: bytes, "answer") { text throws(MessageError) in
      try HubAnswer(text)
    } text: {
      try $0.text()
    }
    let whole = events(of: bytes, inPiecesOf: max(1, bytes.count))
    let pieces = events(of: bytes, inPiecesOf: bytes.count % 7 + 1)
    try demand(whole == pieces, "events whole: \(whole as Any), in pieces: \(pieces as Any)")
  }

  /// What is accepted has to come back from its text as the same, and with the same text.
  private func expectReturn<Message: Equatable>(
    of bytes: [UInt8], _ name: String,
    _ read: (UnsafeBufferPointer<UInt8>) throws(MessageError) -> Message,
    text: (Message) throws -> [UInt8]
  ) throws(Finding) {
    let message: Message
    do {
      message = try bytes.withUnsafeBufferPointer { bytes throws(MessageError) in try read(bytes) }
    } catch {
      let lines = bytes.count { $0 == UInt8(ascii: "\n") }
      return try demand(1...(lines + 1) ~= error.line, "the \(name) has no such line: \(error)")
    }
    do {
      let once = try text(message)
      let again = try once.withUnsafeBufferPointer { bytes in try read(bytes) }
      try demand(again == message, "the \(name) comes back as \(again)")
      try demand(try text(again) == once, "the second text of the \(name) differs")
    } catch let finding as Finding {
      throw finding
    } catch {
      throw Finding(description: "the \(name) was accepted, and does not come back: \(error)")
    }
  }

  /// Nil where they are no stream of events, wherever that is found.
  private func events(of bytes: [UInt8], inPiecesOf size: Int) -> [Int64]? {
    var (parser, rest, events) = (EventParser(), bytes[...], [Int64]())
    while !rest.isEmpty {
      guard let more = parser.take(Array(rest.prefix(size))) else { return nil }
      events += more
      rest = rest.dropFirst(size)
    }
    return events
  }
#endif
