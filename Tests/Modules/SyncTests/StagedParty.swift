// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues

/// A party whose file the reader cannot attach, as one on another machine: its rows are copied into
/// tables in memory at each reading.
struct StagedParty: Party {
  private static let tables =
    ["replica", "entry", "peer", "seen", "superseded", "void", "grave", "forgotten", "unsent"]

  private let device: Device
  private let file: any Party

  init(_ device: Device) { (self.device, file) = (device, device.party()) }

  func lend(
    to receiver: Device, _ body: () throws(KeepsakeError) -> Void
  ) throws(KeepsakeError) {
    let (schema, rows) = try device.core.read { connection in
      let names = Self.tables.map { "'\($0)'" }.joined(separator: ", ")
      let schema = try connection.all(
        """
        SELECT sql FROM sqlite_schema WHERE tbl_name IN (\(names)) AND sql IS NOT NULL
        ORDER BY type DESC
        """
      ) { $0.text(0) }
      var rows: [(table: String, cells: [Cell])] = []
      for table in Self.tables {
        let columns = try connection.all("PRAGMA table_info(\(table))") { $0.text(1) }
        rows += try connection.all("SELECT * FROM \(table)") { row in
          (table, columns.indices.map { row.cell(Int32($0)) })
        }
      }
      return (schema, rows)
    }
    try receiver.core.access { try $0.run("ATTACH DATABASE ':memory:' AS sender") }
    let result = Result { () throws(KeepsakeError) in
      try receiver.core.access { connection in
        for sql in schema {
          try connection.run(
            sql.replacing("CREATE TABLE ", with: "CREATE TABLE sender.")
              .replacing(" INDEX ", with: " INDEX sender."))
        }
        for row in rows {
          let places = row.cells.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
          try connection.run("INSERT INTO sender.\(row.table) VALUES (\(places))", row.cells)
        }
      }
      try body()
    }
    try receiver.core.access { try $0.run("DETACH DATABASE sender") }
    return try result.get()
  }

  // The rest is asked of the file, as requests would.

  var name: String { file.name }
  var now: Int64 { file.now }

  func replica() throws(KeepsakeError) -> ReplicaID { try file.replica() }

  func side(
    toward peer: ReplicaID, _ stores: [ByteText]
  ) throws(KeepsakeError) -> PairSnapshot.Side {
    try file.side(toward: peer, stores)
  }

  var isHub: Bool { false }

  func syncedStores() throws(KeepsakeError) -> Set<ByteText> { try file.syncedStores() }
  func holdsAny() throws(KeepsakeError) -> Bool { try file.holdsAny() }
  func hasMet() throws(KeepsakeError) -> Bool { try file.hasMet() }

  func hasEntries(of stores: [ByteText], after cursors: [Int64]) throws(KeepsakeError) -> Bool {
    try file.hasEntries(of: stores, after: cursors)
  }

  func revocations() throws(KeepsakeError) -> [ReplicaID: HybridTimestamp] {
    try file.revocations()
  }

  func revoke(
    after limits: [ReplicaID: HybridTimestamp], as id: ReplicaID
  ) throws(KeepsakeError) -> (entries: Int, isCopy: Bool) {
    try file.revoke(after: limits, as: id)
  }

  func rotate(
    to id: ReplicaID, against peer: any Party, known: PairSnapshot.Side?, _ stores: [ByteText],
    if isNeeded: (_ mine: PairSnapshot.Side, _ theirs: PairSnapshot.Side) -> Bool
  ) throws(KeepsakeError) {
    try file.rotate(to: id, against: peer, known: known, stores, if: isNeeded)
  }

  func rewind(_ peer: ReplicaID, _ stores: [ByteText]) throws(KeepsakeError) {
    try file.rewind(peer, stores)
  }

  func offer(
    _ token: ExchangeToken, to reader: ReplicaID, remembering memory: [PeerState],
    of stores: [ByteText], except echo: EchoRange
  ) throws(KeepsakeError) -> Pull.Offer {
    try file.offer(token, to: reader, remembering: memory, of: stores, except: echo)
  }

  func read(_ pull: Pull, _ result: inout Pull.Result) throws(KeepsakeError) {
    try file.read(pull, &result)
  }

  func acknowledge(
    _ cursors: [(store: ByteText, cursor: Int64)], by peer: ReplicaID
  ) throws(KeepsakeError) {
    try file.acknowledge(cursors, by: peer)
  }

  func noteMet(_ peer: ReplicaID, _ stores: [ByteText]) throws(KeepsakeError) {
    try file.noteMet(peer, stores)
  }
}
