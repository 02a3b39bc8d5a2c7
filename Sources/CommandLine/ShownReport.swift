// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
package import KeepsakeSync
package import KeepsakeValues

/// What a merge did, for programs and for people.
package struct ShownReport {
  private let report: MergeReport
  private let paths: [String]
  /// Nil for a hub, which devices know by its address.
  private let replicas: [ReplicaID?]

  package init(_ report: MergeReport, paths: [String], replicas: [ReplicaID?]) {
    self.report = report
    self.paths = paths
    self.replicas = replicas
  }

  package var json: JSON {
    get throws {
      .object([
        "converged": .boolean(report.hasConverged),
        "devices": .array(
          zip(paths, replicas).map {
            .object(["path": .string($0), "replica": $1.map { .string($0.description) }])
          }),
        "transfers": .array(report.transfers.map(transfer)),
        "changes": .array(
          try report.changes.map { try Shown.change($0.change, into: paths[$0.into]) }),
        "truncated": report.isTruncated ? .boolean(true) : nil,
        "events": .array(report.events.map(event)),
      ])
    }
  }

  private func transfer(_ transfer: MergeReport.Transfer) -> JSON {
    .object([
      "from": .string(paths[transfer.from]), "into": .string(paths[transfer.into]),
      "received": .integer(Int64(transfer.received)), "changed": .integer(Int64(transfer.changed)),
      "held": .integer(Int64(transfer.held)), "conflicts": .integer(Int64(transfer.conflicts)),
    ])
  }

  private func event(_ event: MergeReport.Event) -> JSON {
    switch event {
    case .cloneDetected(let device):
      .object(["kind": .string("cloneDetected"), "path": .string(paths[device])])
    case .timestampsRevoked(let device, let entries):
      .object([
        "kind": .string("stampsVoided"), "path": .string(paths[device]),
        "entries": .integer(Int64(entries)),
      ])
    case .conflictsDropped(let device, let count):
      .object([
        "kind": .string("conflictsDropped"), "path": .string(paths[device]),
        "count": .integer(Int64(count)),
      ])
    case .clockDiffers(let device, let difference):
      .object([
        "kind": .string("clockDiffers"), "path": .string(paths[device]),
        "seconds": .integer(difference.components.seconds),
      ])
    case .notSent(let device, let entries, let store, let key):
      .object([
        "kind": .string("notSent"), "path": .string(paths[device]),
        "entries": .integer(Int64(entries)), "store": .string(store), "key": .string(key),
      ])
    }
  }

  /// - Parameter limit: how many changes, losses and held entries to list at most.
  package func lines(isDryRun: Bool, limit: Int) throws -> [Line] {
    let list = try self.list
    let others = max(0, list.count - limit) + unlisted
    var lines = report.transfers.map { Line(line($0)) } + list.prefix(limit)
    if others > 0 { lines.append("  … and \(others.grouped) more; --all-changes lists them") }
    lines += (report.events.map(line) + summary).map { Line($0) }
    lines.append(
      report.hasConverged
        ? (isDryRun ? "All files would hold the same." : "All files hold the same.")
        : (isDryRun ? "The files would still differ." : "The files still differ."))
    return isDryRun ? lines + ["This was a dry run; nothing was written."] : lines
  }

  private var list: [Line] {
    get throws {
      try report.changes.map { item in
        let change = item.change
        let shown = try Shown.change(from: change.before, to: change.after)
        return "\(place(item.into, change.store, change.key)): \(shown)"
      }
        + report.conflicts.map { item in
          let lost = try Shown.quoted(item.conflict.loser, or: "a deletion")
          let place = place(item.into, item.conflict.store, item.conflict.key)
          return "\(place): \(lost, .old) lost to a later write"
        }
        + report.waiting.map { item in
          let place = place(item.into, item.store, item.key)
          return "\(place): from the future, held until \(Shown.text(item.until))"
        }
    }
  }

  /// How many changes and losses the report does not have.
  private var unlisted: Int {
    let conflicts = report.transfers.reduce(0) { $0 + $1.conflicts }
    return report.omittedChanges + max(0, conflicts - report.conflicts.count)
  }

  /// For each file that got anything, what became of it, where that is more than one sees at once.
  private var summary: [String] {
    guard unlisted + report.changes.count + report.conflicts.count > 10 else { return [] }
    return paths.indices.compactMap { place in
      if unlisted > 0 { return sum(place) }
      let changes = report.changes.filter { $0.into == place }.map(\.change)
      let parts = [
        (changes.count { $0.before.isTombstone }, "new"),
        (changes.count { !$0.before.isTombstone && !$0.after.isTombstone }, "overwritten"),
        (changes.count { $0.after.isTombstone }, "deleted"),
        (report.conflicts.count { $0.into == place }, "lost: kvsync conflicts \(name(place))"),
      ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
      return parts.isEmpty ? nil : "\(name(place)): " + parts.joined(separator: ", ")
    }
  }

  /// The same by the counts alone.
  private func sum(_ place: Int) -> String? {
    let transfers = report.transfers.filter { $0.into == place }
    let changed = transfers.reduce(0) { $0 + $1.changed }
    let lost = transfers.reduce(0) { $0 + $1.conflicts }
    let parts = [(changed, "changed"), (lost, "lost: kvsync conflicts \(name(place))")]
      .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return parts.isEmpty ? nil : "\(name(place)): " + parts.joined(separator: ", ")
  }

  private func name(_ device: Int) -> String { Shown.name(paths[device]) }

  private func place(_ device: Int, _ store: String, _ key: String) -> Line {
    let address = "\(Shown.name(store))/\(Shown.name(key))"
    return "  \(name(device))  \(address, .key)"
  }

  private func line(_ event: MergeReport.Event) -> String {
    switch event {
    case .cloneDetected(let device):
      "\(name(device)): was a copy or an older state; it has a new identity"
    case .timestampsRevoked(let device, let entries):
      "\(name(device)): taken back, by the device that gave them when its clock had run ahead: "
        + counted(entries, "timestamp")
    case .conflictsDropped(let device, let count):
      "\(name(device)): its conflict log is full; the oldest \(counted(count, "conflict")) went"
    case .clockDiffers(let device, let difference):
      "\(name(device)): its clock is "
        + counted(Int(clamping: difference.components.seconds.magnitude), "second")
        + (difference < .zero ? " behind" : " ahead") + "; set the one that is wrong"
    case .notSent(let device, let entries, let store, let key):
      "\(name(device)): not on the hub, because it is too large for it, or no UTF-8: "
        + "\(Shown.name(store))/\(Shown.name(key))"
        + (entries == 1 ? "" : ", and \((entries - 1).grouped) more")
    }
  }

  private func line(_ transfer: MergeReport.Transfer) -> String {
    var parts = ["\(transfer.received) received", "\(transfer.changed) changed"]
    if transfer.held > 0 { parts.append("\(transfer.held) held, from the future") }
    if transfer.conflicts > 0 { parts.append("\(transfer.conflicts) lost and logged") }
    return "\(name(transfer.from)) -> \(name(transfer.into)): "
      + parts.joined(separator: ", ")
  }
}
