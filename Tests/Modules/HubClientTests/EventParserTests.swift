// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeHub
import Testing

@Suite struct EventParserTests {
  @Test func eventsAreReadHoweverTheyAreCut() {
    let parts = [
      "id: 1\r\ndata: {\"newest\":\"1-a\"}\r\n\r\n", ":\n\n", "data: {\"newest\":\"22-b\"}\n\n",
      "id: 3\rdata:{\"newest\":\"3-c\"}\r\r",
    ]
    let text = Array(parts.joined().utf8)
    for first in 0...text.count {
      for second in first...text.count {
        var parser = EventParser()
        var events: [String] = []
        for piece in [text[..<first], text[first..<second], text[second...]] {
          events += parser.take(Array(piece)) ?? ["none"]
        }
        #expect(events == ["1-a", "22-b", "3-c"], "\(first) \(second)")
      }
    }
  }

  @Test func whatIsNoEventIsFound() {
    for text in ["data: {}\n\n", "data: <html>\n\n", String(repeating: "x", count: 70_000)] {
      var parser = EventParser()
      #expect(parser.take(Array(text.utf8)) == nil)
    }
  }
}
