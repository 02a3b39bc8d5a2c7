// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeHub
import KeepsakeSync
import KeepsakeTesting
import KeepsakeValues
import TestSupport
import Testing

/// Messages between devices and hubs, as text.
@Suite struct HubTextTests {
  private static let entry = Entry(
    Address(store: "cloud", key: "theme"), TaggedCell(tag: 1, cell: .text("dark")),
    timestamp: HybridTimestamp(rawValue: 0x01a1_ee56_5e00_0003), origin: ReplicaID(rawValue: 7))

  private static let request = HubRequest(
    device: ReplicaID(rawValue: 7), stores: [ByteText("cloud")],
    expected: HubRequest.Memory(
      hub: ReplicaID(rawValue: 9),
      peers: [PeerState(cursor: 1, acked: 2, token: ExchangeToken(rawValue: 1 << 60))]),
    steps: [
      .push(
        HubRequest.Push(
          token: ExchangeToken(rawValue: 3), through: 5, read: [2],
          own: EchoRange(lower: 2, upper: 3), rows: [entry],
          seen: [
            HubRequest.Seen(ByteText("cloud"), ReplicaID(rawValue: 7), entry.timestamp)
          ]))
    ])

  private static var answer: HubAnswer {
    var answer = HubAnswer(
      hub: ReplicaID(rawValue: 9), former: [ReplicaID(rawValue: 8)], time: 1_700_000_000_000,
      seq: 3, forgotten: 0, hasMet: true,
      stores: [ByteText("cloud"): HubAnswer.Store(peer: PeerState(cursor: 1), last: 3)],
      revocations: [ReplicaID(rawValue: 6): HybridTimestamp(rawValue: 1)], waiting: 0)
    answer.page = HubAnswer.Page(
      rows: [HubAnswer.Row(entry, seq: 3)], through: 3, hasMore: false, seen: [])
    answer.pushed = HubAnswer.Pushed(before: 2, after: 3)
    return answer
  }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  private func request(_ text: String) throws -> HubRequest {
    try Array(text.utf8).withUnsafeBufferPointer { try HubRequest($0) }
  }

  private func answer(_ text: String) throws -> HubAnswer {
    try Array(text.utf8).withUnsafeBufferPointer { try HubAnswer($0) }
  }

  // What others read and write: a change here is another version of the protocol.
  private static let requestText = #"""
    {"protocol":1,"device":"0000000000000007","stores":["cloud"],\#
    "expected":{"hub":"0000000000000009","peers":[{"cursor":1,"acked":2,\#
    "token":"1000000000000000"}]},"steps":[{"step":"push","token":"0000000000000003",\#
    "through":5,"read":[2],"own":[2,3],"seen":[{"store":"cloud","origin":"0000000000000007",\#
    "stamp":"01a1ee565e000003"}]}],"rows":1}
    {"store":"cloud","key":"theme","type":"string","value":"dark","stamp":"01a1ee565e000003",\#
    "origin":"0000000000000007"}

    """#
  private static let answerText = #"""
    {"protocol":1,"hub":"0000000000000009","former":["0000000000000008"],"time":1700000000000,\#
    "seq":3,"forgotten":0,"hasMet":true,"stores":[{"store":"cloud","last":3,\#
    "peer":{"cursor":1,"acked":0}}],"revocations":[{"origin":"0000000000000006",\#
    "stamp":"0000000000000001"}],"waiting":0,"revoked":0,"page":{"through":3,"more":false,\#
    "seen":[]},"pushed":{"before":2,"after":3,"changed":0,"held":0,"answered":0},"rows":1}
    {"store":"cloud","key":"theme","type":"string","value":"dark","stamp":"01a1ee565e000003",\#
    "origin":"0000000000000007","seq":3}

    """#

  @Test func aRequestIsTheseLines() throws {
    #expect(try text(Self.request.text()) == Self.requestText)
    #expect(try request(Self.requestText) == Self.request)
  }

  @Test func aRecollectionIsThisLine() throws {
    let recalled = HubRequest.Recollection(
      hub: ReplicaID(rawValue: 9), peers: [PeerState(cursor: 1, acked: 2)],
      revocations: [ReplicaID(rawValue: 6): HybridTimestamp(rawValue: 1)])
    let all = HubRequest(
      device: ReplicaID(rawValue: 7), stores: [ByteText("cloud")], recalled: recalled)
    let line = #"""
      {"protocol":1,"device":"0000000000000007","stores":["cloud"],\#
      "recalled":{"hub":"0000000000000009","peers":[{"cursor":1,"acked":2}],\#
      "revocations":[{"origin":"0000000000000006","stamp":"0000000000000001"}]},\#
      "steps":[],"rows":0}

      """#
    #expect(try text(all.text()) == line)
    #expect(try request(line) == all)
  }

  @Test func anAnswerIsTheseLines() throws {
    #expect(try text(Self.answer.text()) == Self.answerText)
    #expect(try answer(Self.answerText) == Self.answer)
  }

  @Test func everyOtherStepComesBack() throws {
    let offer = HubRequest.Offer(
      token: ExchangeToken(rawValue: 4),
      memory: [PeerState(readToken: ExchangeToken(rawValue: 5))],
      echo: EchoRange(lower: 1, upper: 2), page: HubRequest.PageLimit(rows: 10, bytes: 20))
    let steps: [HubRequest.Step] = [
      .revoke([ReplicaID(rawValue: 1): HybridTimestamp(rawValue: 2)]),
      .rename(ReplicaID(rawValue: 3)), .rewind, .offer(offer),
      .more(HubRequest.More(offer, after: 6, through: 7)), .acknowledge([8]),
    ]
    let all = HubRequest(device: ReplicaID(rawValue: 1), stores: [ByteText("cloud")], steps: steps)
    #expect(try request(text(all.text())) == all)
  }

  /// Each value takes two bytes of text, and many times as much memory in a hub.
  @Test func aRowOfTooManyValuesIsRefused() throws {
    func read(_ count: Int) throws -> HubRequest {
      let array = "[" + repeatElement("0", count: count).joined(separator: ",") + "]"
      return try request(
        Self.requestText.replacing(
          #""string","value":"dark""#, with: #""array","value":\#(array)"#))
    }
    // All that a value of 1 MiB can have.
    let most = Seeds.rounds((1 << 20) / 2 - 1, debug: 1_000)
    #expect(throws: Never.self) { try read(most) }
    let error = #expect(throws: MessageError.self) { try read(600_000) }
    #expect(error?.line == 2 && error?.problem == "more than 600000 values and names")
  }

  private static let cells: [TaggedCell] = [
    .tombstone, TaggedCell(tag: 1, cell: .text("")),
    TaggedCell(tag: 1, cell: .text("a\u{0}\n\"\\é")),
    TaggedCell(tag: 2, cell: .integer(1 << 53)), TaggedCell(tag: 2, cell: .integer(.max)),
    TaggedCell(tag: 2, cell: .integer(.min)), TaggedCell(tag: 3, cell: .real(0.1)),
    TaggedCell(tag: 3, cell: .real(1)), TaggedCell(tag: 3, cell: .text("nan")),
    TaggedCell(tag: 3, cell: .real(.infinity)), TaggedCell(tag: 3, cell: .real(-.infinity)),
    TaggedCell(tag: 3, cell: .real(.leastNonzeroMagnitude)), TaggedCell(tag: 4, cell: .integer(1)),
    TaggedCell(tag: 5, cell: .real(712_345_678.123_456_7)), TaggedCell(tag: 5, cell: .real(1e300)),
    TaggedCell(tag: 6, cell: .blob(Data([0, 255]))), TaggedCell(tag: 6, cell: .blob(Data())),
    TaggedCell(tag: 7, cell: .text(#"[1,"a",{"$data":"AA=="},{"$date":1.5}]"#)),
    TaggedCell(tag: 8, cell: .text(#"{"a":9007199254740993,"b":[]}"#)),
    // Written by other programs, or by later versions.
    TaggedCell(tag: 7, cell: .text("[1, 2]")), TaggedCell(tag: 8, cell: .text("no JSON")),
    TaggedCell(tag: 2, cell: .text("2")), TaggedCell(tag: 4, cell: .integer(2)),
    TaggedCell(tag: 99, cell: .null), TaggedCell(tag: 99, cell: .real(.infinity)),
    TaggedCell(tag: -1, cell: .integer(.max)), TaggedCell(tag: 99, cell: .blob(Data([1]))),
  ]

  @Test(arguments: cells)
  func everyColumnComesBackAsItIs(cell: TaggedCell) throws {
    var answer = Self.answer
    answer.page?.rows[0].entry.content = cell
    #expect(try self.answer(text(answer.text())) == answer)
  }

  @Test func aMessageThatWasCutOffIsNone() throws {
    for count in Self.requestText.utf8.indices {
      let part = String(decoding: Self.requestText.utf8[..<count], as: UTF8.self)
      #expect(throws: MessageError.self) { try request(part) }
    }
    for count in Self.answerText.utf8.indices {
      let part = String(decoding: Self.answerText.utf8[..<count], as: UTF8.self)
      #expect(throws: MessageError.self) { try answer(part) }
    }
  }

  @Test(arguments: [
    ("\"protocol\":1", "\"protocol\":2", "version 2 of the protocol, not 1"),
    ("\"rows\":1", "\"rows\":2", "\"rows\" is not how many lines follow, 1"),
    ("\"rows\":1", "\"rows\":0", "\"rows\" is not how many lines follow, 1"),
    ("\"step\":\"push\"", "\"step\":\"pull\"", "there is no step \"pull\""),
    ("\"step\":\"push\"", "\"step\":\"rewind\"", "rows belong to one step that pushes them"),
    ("\"read\":[2]", "\"read\":[]", "another length than \"stores\""),
    ("\"own\":[2,3]", "\"own\":[3,2]", "\"own\" is no range"),
    ("\"through\":5", "\"through\":-5", "\"through\" is no number from 0 to 2^53"),
    ("\"device\":\"0000000000000007\"", "\"device\":\"7\"", "\"device\" is no replica ID"),
    ("\"device\":\"0000000000000007\"", "\"device\":\"f000000000000007\"", "is no replica ID"),
    ("\"device\":\"0000000000000007\"", "\"device\":\"0000000000000000\"", "is no replica ID"),
    ("\"stores\":[\"cloud\"]", "\"stores\":[\"\"]", "no name of a store"),
    ("\"type\":\"string\"", "\"type\":\"text\"", "line 2: there is no type \"text\""),
    ("\"type\":\"string\"", "\"deleted\":true", "line 2: the row has neither"),
    ("\"stamp\":\"01a1ee565e000003\",\"origin\"", "\"origin\"", "line 2: the row has no stamp"),
    ("{\"store\":\"cloud\",", "{", "line 2: the row has no store"),
  ])
  func whatIsNoRequestIsRefusedAndSaysWhy(part: String, other: String, problem: String) throws {
    #expect(Self.requestText.contains(part))
    let changed = Self.requestText.replacing(part, with: other)
    #expect { try request(changed) } throws: { "\($0)".contains(problem) }
  }

  @Test func whatALaterVersionAddsIsLeftToIt() throws {
    let changed = Self.requestText.replacing("{\"protocol\":1", with: "{\"new\":[1],\"protocol\":1")
    #expect(try request(changed) == Self.request)
  }

  @Test(arguments: ["theme", "push"])
  func aMessageThatIsNoUTF8IsRefusedRatherThanRepaired(part: String) throws {
    var bytes = Array(Self.requestText.utf8)
    let place = try #require(bytes.firstRange(of: Array(part.utf8))?.lowerBound)
    bytes[place] = 0xFF
    #expect {
      try bytes.withUnsafeBufferPointer { _ = try HubRequest($0) }
    } throws: { "\($0)".contains("this is no UTF-8") }
  }

  @Test func noMoreRowsAreReadThanALimitAllows() throws {
    let bytes = Array(Self.answerText.utf8)
    #expect(throws: MessageError.self) {
      try bytes.withUnsafeBufferPointer { _ = try HubAnswer($0, limit: 0) }
    }
  }

  @Test(arguments: Seeds.list(300))
  func whatIsChangedAnywhereIsRefusedOrAnotherMessage(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var bytes = Array((Bool.random(using: &generator) ? Self.requestText : Self.answerText).utf8)
    for _ in 0..<Int.random(in: 1...4, using: &generator) {
      let place = Int.random(in: bytes.indices, using: &generator)
      switch Int.random(in: 0..<3, using: &generator) {
      case 0: bytes[place] = .random(in: 0...255, using: &generator)
      case 1: bytes.remove(at: place)
      default: bytes.insert(bytes[Int.random(in: bytes.indices, using: &generator)], at: place)
      }
    }
    // What is read has one text, and is read from it again.
    if case .success(let read) = Result(catching: {
      try bytes.withUnsafeBufferPointer { try HubRequest($0) }
    }) {
      #expect(try request(text(read.text())) == read)
    }
    if case .success(let read) = Result(catching: {
      try bytes.withUnsafeBufferPointer { try HubAnswer($0) }
    }) {
      #expect(try answer(text(read.text())) == read)
    }
  }
}
