// SPDX-License-Identifier: Apache-2.0

package import KeepsakeSync
import KeepsakeValues

extension HubRequest {
  /// - Throws: `ValueError` for a row that no device writes.
  package func text() throws -> [UInt8] {
    let pushed = steps.flatMap { step in
      if case .push(let push) = step { push.rows } else { [Entry]() }
    }
    var members = [
      JSON.Member("device", .string(device.description)),
      JSON.Member("stores", .array(stores.map { .string($0.string) })),
    ]
    if let expected {
      members.append(
        JSON.Member(
          "expected",
          .object([
            "hub": .string(expected.hub.description), "peers": .array(expected.peers.map(\.json)),
          ])))
    }
    if let recalled {
      members.append(
        JSON.Member(
          "recalled",
          .object([
            "hub": .string(recalled.hub.description),
            "peers": .array(recalled.peers.map(\.json)), "revocations": recalled.revocations.json,
          ])))
    }
    members.append(JSON.Member("steps", .array(steps.map(\.json))))
    return MessageText.write(members, try pushed.map { try RowLine.json($0) })
  }

  /// Bytes of its first line, which take many times as much once they are parsed. A version vector
  /// of 64 devices in 64 stores has room.
  private static let headBytes = 512 << 10

  /// - Parameter limit: rows that it has at most.
  package init(
    _ bytes: UnsafeBufferPointer<UInt8>, limit: Int = 1000
  ) throws(MessageError) {
    let (head, rows) = try MessageText.read(bytes, limit: limit, headBytes: Self.headBytes)
    self.init(device: try head.replica("device"), stores: try head.stores("stores"))
    expected = try head.ifMembers("expected").map { members throws(MessageError) in
      Memory(
        hub: try members.replica("hub"), peers: try members.objects("peers", PeerState.init))
    }
    recalled = try head.ifMembers("recalled").map { members throws(MessageError) in
      Recollection(
        hub: try members.replica("hub"), peers: try members.objects("peers", PeerState.init),
        revocations: try members.limits("revocations"))
    }
    steps = try head.objects("steps") { [rows] members throws(MessageError) in
      try Step(members, rows.map(\.entry))
    }
    try check(rows.count)
  }

  /// What belongs together must have one length, and rows need a step that pushes them.
  private func check(_ rows: Int) throws(MessageError) {
    guard Set(stores).count == stores.count else {
      throw MessageMembers.error("\"stores\" names one twice")
    }
    var lengths = expected.map { [$0.peers.count] } ?? []
    if let recalled { lengths.append(recalled.peers.count) }
    var pushes = 0
    for step in steps {
      switch step {
      case .offer(let offer): lengths.append(offer.memory.count)
      case .more(let more): lengths.append(more.offer.memory.count)
      case .push(let push):
        lengths.append(push.read.count)
        pushes += 1
      case .acknowledge(let cursors): lengths.append(cursors.count)
      case .revoke, .rename, .rewind: break
      }
    }
    guard lengths.allSatisfy({ $0 == stores.count }) else {
      throw MessageMembers.error("a list has another length than \"stores\"")
    }
    guard pushes == 1 || pushes == 0 && rows == 0 else {
      throw MessageMembers.error("rows belong to one step that pushes them")
    }
  }
}

extension HubRequest.Step {
  fileprivate var json: JSON {
    switch self {
    case .revoke(let limits): .object(["step": .string("revoke"), "limits": limits.json])
    case .rename(let id): .object(["step": .string("rename"), "hub": .string(id.description)])
    case .rewind: .object(["step": .string("rewind")])
    case .offer(let offer): .object([JSON.Member("step", .string("offer"))] + offer.members)
    case .more(let more):
      .object(
        [JSON.Member("step", .string("more"))] + more.offer.members + [
          JSON.Member("after", .integer(more.after)),
          JSON.Member("through", .integer(more.through)),
        ])
    case .push(let push):
      .object([
        "step": .string("push"), "token": push.token.json, "through": .integer(push.through),
        "read": push.read.json, "own": push.own.json,
        "seen": push.seen.map { .array($0.map(\.json)) },
      ])
    case .acknowledge(let cursors):
      .object(["step": .string("acknowledge"), "cursors": cursors.json])
    }
  }

  fileprivate init(_ members: MessageMembers, _ rows: [Entry]) throws(MessageError) {
    switch try members.text("step") {
    case "revoke": self = .revoke(try members.limits("limits"))
    case "rename": self = .rename(try members.replica("hub"))
    case "rewind": self = .rewind
    case "offer": self = .offer(try HubRequest.Offer(members))
    case "more":
      self = .more(
        HubRequest.More(
          try HubRequest.Offer(members), after: try members.count("after"),
          through: try members.count("through")))
    case "push":
      self = .push(
        HubRequest.Push(
          token: try members.token("token"), through: try members.count("through"),
          read: try members.counts("read"), own: try members.range("own"), rows: rows,
          seen: try members.ifSeen("seen")))
    case "acknowledge": self = .acknowledge(try members.counts("cursors"))
    case let other: throw MessageMembers.error("there is no step \"\(other)\"")
    }
  }
}

extension HubRequest.Offer {
  fileprivate var members: [JSON.Member] {
    [
      JSON.Member("token", token.json), JSON.Member("memory", .array(memory.map(\.json))),
      JSON.Member("echo", echo.json),
      JSON.Member(
        "page",
        .object(["rows": .integer(Int64(page.rows)), "bytes": .integer(Int64(page.bytes))])),
    ]
  }

  fileprivate init(_ members: MessageMembers) throws(MessageError) {
    let page = try members.members("page")
    self.init(
      token: try members.token("token"), memory: try members.objects("memory", PeerState.init),
      echo: try members.range("echo"),
      page: HubRequest.PageLimit(
        rows: Int(try page.count("rows")), bytes: Int(try page.count("bytes"))))
  }
}
