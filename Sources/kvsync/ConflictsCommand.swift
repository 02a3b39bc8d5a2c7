// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeFormats
import KeepsakeSync
import KeepsakeValues

struct ConflictsCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "conflicts",
    abstract: "Lists writes that lost to a write made without knowledge of them.",
    discussion: """
      The log is the device's own; it keeps the last 10,000, up to 64 MiB. --restore writes a \
      lost value back as a new write of this device, which wins everywhere at the next merge.

        kvsync conflicts laptop.keepsake
        kvsync conflicts laptop.keepsake --restore 3
      """)

  @Argument(help: "The device file.", completion: .file()) var file: String
  @Option(help: "Only this store. (default: all)") var store: String?
  @Option(help: "The number of a conflict, whose loser is written back.") var restore: Int64?
  @OptionGroup var common: CommonOptions

  func validate() throws {
    if restore != nil, store != nil {
      throw ValidationError(
        "the conflict to --restore is named by its number alone, without --store")
    }
  }

  func run() throws {
    try checkStore(store, of: file)
    if let restore { return try self.restore(restore) }
    let device = try common.open(file, .readOnly)
    let conflicts = try device.conflicts(store: store)
    let dropped = try device.droppedConflicts()
    if dropped > 0, !common.json {
      common.output.say(
        "\(file): the conflict log is full; the oldest \(dropped) are no longer there")
    }
    try common.output.print(
      .object([
        "conflicts": .array(try conflicts.map(Self.json)), "dropped": .integer(dropped),
      ]),
      lines: try conflicts.map(Self.line), isData: true)
  }

  private func restore(_ id: Int64) throws {
    let device = try common.open(file, .existing)
    guard let conflict = try device.conflict(id: id) else {
      throw InputError.usage(
        "\(file): there is no conflict \(id); see kvsync conflicts for those there are")
    }
    try device.restore(conflict)
    let entry = try device.entry(store: conflict.store, key: conflict.key)
    try common.output.print(
      try entry.map(JSON.entry) ?? .object(["deleted": .boolean(true)]),
      lines: ["\(Self.name(conflict)) is again \(try Self.lost(conflict))"], isData: false)
  }

  private static func name(_ conflict: Conflict) -> String {
    "\(conflict.store.quotedIfNeeded)/\(conflict.key.quotedIfNeeded)"
  }

  private static func json(_ conflict: Conflict) throws -> JSON {
    let lost = JSON.provenance(of: conflict.lostTimestamp, by: conflict.lostReplicaID)
    return .object([
      "id": .integer(conflict.id), "store": .string(conflict.store), "key": .string(conflict.key),
      "lost": .object(try JSON.content(conflict.loser) + lost),
      "won": .object(
        (conflict.winnerIsDeletion ? [JSON.Member("deleted", .boolean(true))] : [])
          + JSON.provenance(of: conflict.winnerTimestamp, by: conflict.winnerReplicaID)),
      "found": .time(conflict.foundAt),
      "resolved": conflict.isResolved ? .boolean(true) : nil,
    ])
  }

  private static func line(_ conflict: Conflict) throws -> OutputLine {
    let winner = conflict.winnerIsDeletion ? "a deletion" : "a write"
    let (store, key) = (conflict.store.quotedIfNeeded, conflict.key.quotedIfNeeded)
    let fate =
      "\tof \(conflict.lostTimestamp.date.iso8601) by \(conflict.lostReplicaID)"
      + "\tlost to \(winner) of \(conflict.winnerTimestamp.date.iso8601)"
      + " by \(conflict.winnerReplicaID)"
      + (conflict.isResolved ? "\tresolved" : "")
    return "\(conflict.id)\t\(store, .key)\t\(key, .key)\t\(try lost(conflict), .old)\(fate)"
  }

  private static func lost(_ conflict: Conflict) throws -> OutputLine {
    try OutputLine(conflict.loser, or: "deleted")
  }
}
