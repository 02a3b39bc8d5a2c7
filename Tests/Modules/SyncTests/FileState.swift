// SPDX-License-Identifier: Apache-2.0

import HubSupport
import KeepsakeDevice
import KeepsakeHubServer
import KeepsakeSync
import KeepsakeValues

/// All that the model knows of a file, in a form that can be compared: one text for each fact.
struct FileState {
  private(set) var parts: [(name: String, facts: [String])] = []

  private mutating func add(_ name: String, _ facts: [String]) { parts.append((name, facts)) }

  private static func mark(_ number: Int64, _ time: Int64, _ bits: Int64) -> String {
    "\(number) at \(time) #\(bits)"
  }

  /// As a hub writes it.
  private static func hubMark(_ mark: ModelMark) -> String {
    HubMark(number: mark.sequenceNumber, bits: mark.bits).text
  }

  private static func text(_ value: String?) -> String { value ?? "deleted" }

  init(_ model: ModelFile) {
    add("replica ID", ["\(model.replicaID)"])
    add("clock", ["\(model.clock)"])
    add("sequence number", ["\(model.sequenceNumber)"])
    add("trimmed", ["\(model.trimmed)"])
    add(
      "entries",
      model.entries.map {
        "\($0.sequenceNumber) \($0.store)/\($0.key) \(Self.text($0.value)) \($0.time)"
          + " \($0.replicaID)"
      })
    add(
      "vectors",
      model.vectors.flatMap { store, vector in vector.map { "\(store) \($0.key) \($0.value)" } }
        .sorted())
    func mark(_ mark: ModelMark) -> String { Self.mark(mark.sequenceNumber, mark.time, mark.bits) }
    add("marks", model.marks.map(mark))
    add("forgotten", model.forgotten.map { "\($0.key) \($0.value)" }.sorted())
    add(
      "cursors",
      model.cursors.filter { $0.read.sequenceNumber > 0 }
        .map { "\($0.peer) \($0.store) \(mark($0.read))" }.sorted())
    add(
      "own marks",
      model.ownMarks.filter { $0.value.sequenceNumber > 0 }.map { "\($0.key) \(mark($0.value))" }
        .sorted())
    add(
      "hubs",
      model.hubs.filter { $0.value.sent.sequenceNumber > 0 || $0.value.read.sequenceNumber > 0 }
        .map {
          "\($0.key) \(Self.hubMark($0.value.read)) \(Self.hubMark($0.value.newest))"
            + " \(mark($0.value.sent)) \($0.value.held)"
        }.sorted())
    add(
      "conflicts",
      model.conflicts.map {
        """
        \($0.lost.store)/\($0.lost.key) \(Self.text($0.lost.value)) \($0.lost.time) \
        \($0.lost.replicaID) lost to \($0.won.value == nil) \($0.won.time) \($0.won.replicaID) \
        \($0.isResolved)
        """
      })
  }

  init(of device: Device) throws {
    self = try device.tables.read { try FileState($0) }
  }

  private init(_ connection: Connection) throws {
    let replica = try ReplicaState(connection)
    add("replica ID", ["\(replica.id.rawValue)"])
    add("clock", ["\(replica.last.rawValue)"])
    add("sequence number", ["\(replica.sequenceNumber)"])
    func all(_ sql: String, _ read: (Row) -> String) throws -> [String] {
      try connection.all(sql, [], read)
    }
    func mark(_ row: Row, _ column: Int32) -> String {
      Self.mark(row.integer(column), row.integer(column + 1), row.integer(column + 2))
    }
    func value(_ row: Row, _ column: Int32) -> String {
      row.cell(column) == .null ? "deleted" : row.text(column)
    }
    add("trimmed", try all("SELECT trimmed FROM replica") { "\($0.integer(0))" })
    add(
      "entries",
      try all(
        """
        SELECT sequence_number, store, key, value, timestamp, replica_id FROM entry
        ORDER BY sequence_number
        """
      ) {
        "\($0.integer(0)) \($0.text(1))/\($0.text(2)) \(value($0, 3)) \($0.integer(4))"
          + " \($0.integer(5))"
      })
    add(
      "vectors",
      try all("SELECT store, replica_id, timestamp FROM seen") {
        "\($0.text(0)) \($0.integer(1)) \($0.integer(2))"
      }.sorted())
    add(
      "marks",
      try all("SELECT sequence_number, timestamp, bits FROM mark ORDER BY 1") { mark($0, 0) })
    add(
      "forgotten",
      try all("SELECT store, sequence_number FROM forgotten") {
        "\($0.text(0)) \($0.integer(1))"
      }.sorted())
    add(
      "cursors",
      try all(
        """
        SELECT replica_id, store, cursor_number, cursor_timestamp, cursor_bits FROM peer
        WHERE cursor_number > 0
        """
      ) { "\($0.integer(0)) \($0.text(1)) \(mark($0, 2))" }.sorted())
    add(
      "own marks",
      try all(
        """
        SELECT replica_id, max(own_number), own_timestamp, own_bits FROM peer
        WHERE own_number > 0 GROUP BY replica_id
        """
      ) { "\($0.integer(0)) \(mark($0, 1))" }.sorted())
    let accounts = try connection.all(
      """
      SELECT account FROM hub
      WHERE sent_number > 0 OR read_mark <> '0-0000000000000000' ORDER BY account
      """
    ) { $0.integer(0) }
    add(
      "hubs",
      try accounts.map { account in
        let cursor = try connection.hubs.cursor(of: account)
        let sent = Self.mark(
          cursor.sent.sequenceNumber, cursor.sent.timestamp.rawValue, cursor.sent.bits)
        return "\(account) \(cursor.read) \(cursor.newest) \(sent) \(cursor.held)"
      }.sorted())
    add(
      "conflicts",
      try all(
        """
        SELECT store, key, lost_value, lost_timestamp, lost_replica_id, winner_type,
          winner_timestamp, winner_replica_id, is_resolved FROM conflict ORDER BY id
        """
      ) {
        """
        \($0.text(0))/\($0.text(1)) \(value($0, 2)) \($0.integer(3)) \($0.integer(4)) \
        lost to \($0.integer(5) == 0) \($0.integer(6)) \($0.integer(7)) \($0.integer(8) == 1)
        """
      })
  }

  // MARK: - Hubs

  init(_ model: ModelHub) {
    add(
      "entries",
      model.entries.map {
        "\($0.sequenceNumber) \($0.store)/\($0.key) \(Self.text($0.value)) \($0.time) "
          + "\($0.replicaID)"
      })
    add("newest mark", [model.marks.last.map(Self.hubMark) ?? HubCursor.beginning])
    add(
      "vectors",
      model.vectors.flatMap { store, vector in
        vector.filter { $0.value > 0 }.map { "\(store) \($0.key) \($0.value)" }
      }.sorted())
    add("devices", model.devices.map { "\($0.key) \(Self.hubMark($0.value))" }.sorted())
  }

  /// - Parameter replicas: those of which the hub may know something.
  init(of hub: MemoryHub, _ replicas: Set<Int64>) throws {
    let state = try hub.state()
    add(
      "entries",
      try state.rows.map { row in
        let entry = try Entry(row: JSON(parsing: String(decoding: row.body, as: UTF8.self)))
        var value: String?
        if case .text(let text) = entry.content.cell { value = text }
        return "\(row.number) \(entry.address.store)/\(entry.address.key) \(Self.text(value))"
          + " \(entry.timestamp.rawValue) \(entry.replicaID.rawValue)"
      })
    add("newest mark", [state.account?.newest.text ?? ""])
    add(
      "vectors",
      try VersionVectors(uniting: state.vectors.map(\.body)).times.flatMap { store, vector in
        vector.map { "\(store) \($0.key.rawValue) \($0.value.rawValue)" }
      }.sorted())
    let known = try replicas.sorted().compactMap { id in
      try hub.state(replica: ReplicaID(rawValue: id)).replica.map { (id, $0) }
    }
    add(
      "devices",
      known.map { "\($0) \(String(decoding: $1.mark, as: UTF8.self))" }.sorted())
  }

  /// What this file has and the model has not, and the other way round.
  func differences(from model: FileState) -> [String] {
    zip(parts, model.parts).filter { $0.facts != $1.facts }.map { own, model in
      "\(own.name): \(own.facts.filter { !model.facts.contains($0) })"
        + " instead of \(model.facts.filter { !own.facts.contains($0) })"
        + (Set(own.facts) == Set(model.facts) ? ", in another order" : "")
    }
  }
}
