// SPDX-License-Identifier: Apache-2.0

package import KeepsakeSync
import KeepsakeValues

extension HubAnswer {
  /// - Throws: `ValueError` for a row that no device writes.
  package func text() throws -> [UInt8] {
    let members: [JSON.Member?] = [
      JSON.Member("hub", .string(hub.description)),
      JSON.Member("former", .array(former.map { .string($0.description) })),
      JSON.Member("time", .integer(time)), JSON.Member("seq", .integer(seq)),
      JSON.Member("forgotten", .integer(forgotten)), JSON.Member("hasMet", .boolean(hasMet)),
      JSON.Member(
        "stores",
        .array(
          stores.sorted { $0.key < $1.key }.map { name, store in
            .object([
              "store": .string(name.string), "last": .integer(store.last), "peer": store.peer.json,
            ])
          })),
      JSON.Member("revocations", revocations.json),
      JSON.Member("waiting", .integer(Int64(waiting))),
      JSON.Member("revoked", .integer(Int64(revoked))),
      page.map { JSON.Member("page", $0.json) }, pushed.map { JSON.Member("pushed", $0.json) },
    ]
    return MessageText.write(
      members.compactMap { $0 },
      try (page?.rows ?? []).map { try RowLine.json($0.entry, seq: $0.seq) })
  }

  /// - Parameter limit: rows that it has at most.
  package init(
    _ bytes: UnsafeBufferPointer<UInt8>, limit: Int = 1000
  ) throws(MessageError) {
    let (head, rows) = try MessageText.read(bytes, limit: limit)
    let stores = try head.objects("stores") { members throws(MessageError) in
      (
        ByteText(try members.text("store")),
        Store(peer: try PeerState(members.members("peer")), last: try members.count("last"))
      )
    }
    guard Set(stores.map(\.0)).count == stores.count else {
      throw MessageMembers.error("\"stores\" names one twice")
    }
    self.init(
      hub: try head.replica("hub"),
      former: try head.list("former") { json throws(MessageError) in
        guard let id = json.replica else {
          throw MessageMembers.error("\"former\" lists what is no replica ID")
        }
        return id
      },
      time: try head.count("time"), seq: try head.count("seq"),
      forgotten: try head.count("forgotten"), hasMet: try head.flag("hasMet"),
      stores: Dictionary(uniqueKeysWithValues: stores),
      revocations: try head.limits("revocations"), waiting: Int(try head.count("waiting")))
    revoked = Int(try head.count("revoked"))
    pushed = try head.ifMembers("pushed").map(Pushed.init)
    guard let page = try head.ifMembers("page") else {
      guard rows.isEmpty else { throw MessageMembers.error("rows belong to a \"page\"") }
      return
    }
    var numbered: [Row] = []
    for (line, row) in rows.enumerated() {
      guard let seq = row.seq else {
        throw MessageError(line: line + 2, problem: "the row has no \"seq\"")
      }
      numbered.append(Row(row.entry, seq: seq))
    }
    self.page = Page(
      rows: numbered, through: try page.count("through"), hasMore: try page.flag("more"),
      seen: try page.seen("seen"))
  }
}

extension HubAnswer.Row {
  /// The row as a line, with its end.
  ///
  /// - Throws: `ValueError` for a row that no device writes.
  package func line() throws -> [UInt8] {
    var bytes: [UInt8] = []
    try RowLine.json(entry, seq: seq).write(to: &bytes)
    bytes.append(UInt8(ascii: "\n"))
    return bytes
  }
}

extension HubAnswer.Page {
  fileprivate var json: JSON {
    .object([
      "through": .integer(through), "more": .boolean(hasMore), "seen": .array(seen.map(\.json)),
    ])
  }
}

extension HubAnswer.Pushed {
  fileprivate var json: JSON {
    .object([
      "before": .integer(before), "after": .integer(after), "changed": .integer(Int64(changed)),
      "held": .integer(Int64(held)), "answered": .integer(Int64(answered)),
    ])
  }

  fileprivate init(_ members: MessageMembers) throws(MessageError) {
    self.init(before: try members.count("before"), after: try members.count("after"))
    changed = Int(try members.count("changed"))
    held = Int(try members.count("held"))
    answered = Int(try members.count("answered"))
  }
}
