// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
package import KeepsakeSync
package import KeepsakeValues

/// The report of a merge, as JSON and as text.
package struct PrintableMergeReport {
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
          try report.changes.map { try JSON.change($0.change, into: paths[$0.into]) }),
        "truncated": report.isTruncated ? .boolean(true) : nil,
        "events": .array(report.events.map(event)),
      ])
    }
  }

  private func transfer(_ transfer: MergeReport.Transfer) -> JSON {
    .object([
      "from": .string(paths[transfer.from]), "into": .string(paths[transfer.into]),
      "received": .integer(Int64(transfer.received)), "changed": .integer(Int64(transfer.changed)),
      "waiting": .integer(Int64(transfer.waiting)),
      "conflicts": .integer(Int64(transfer.conflicts)),
    ])
  }

  private func event(_ event: MergeReport.Event) -> JSON {
    switch event {
    case .newReplicaID(let device, let reason):
      .object([
        "kind": .string("newReplicaID"), "path": .string(paths[device]),
        "reason": .string(reason.rawValue),
      ])
    case .readInFull(let device, let reader):
      .object([
        "kind": .string("readInFull"), "path": .string(paths[device]),
        "by": .string(paths[reader]),
      ])
    case .conflictsDropped(let device, let count):
      .object([
        "kind": .string("conflictsDropped"), "path": .string(paths[device]),
        "count": .integer(Int64(count)),
      ])
    case .tooLarge(let store, let key):
      .object([
        "kind": .string("tooLarge"), "store": .string(store), "key": .string(key),
      ])
    case .unreadable(let count):
      .object(["kind": .string("unreadable"), "count": .integer(Int64(count))])
    }
  }

  /// Lines about events of the merge that its user should know.
  package var remarks: [String] { report.events.map(line) }

  /// The remarks that each merge repeats until something changes.
  package var stayingRemarks: [String] { report.remarks.map(line) }

  /// - Parameter limit: how many changes, losses and waiting entries to list at most.
  package func lines(isDryRun: Bool, limit: Int) throws -> [OutputLine] {
    let list = try self.list
    let others = max(0, list.count - limit) + unlisted
    var lines = report.transfers.map { OutputLine(line($0)) } + list.prefix(limit)
    if others > 0 { lines.append("  … and \(others.grouped) more; --all-changes lists them") }
    lines += remarks.map { OutputLine($0) }
    lines.append(
      report.hasConverged
        ? (isDryRun ? "All files would hold the same." : "All files hold the same.")
        : (isDryRun ? "The files would still differ." : "The files still differ."))
    return isDryRun ? lines + ["This was a dry run; nothing was written."] : lines
  }

  private var list: [OutputLine] {
    get throws {
      try report.changes.map { item in
        let change = item.change
        return "\(place(item.into, change.store, change.key)): \(try OutputLine(change))"
      }
        + report.conflicts.map { item in
          let lost = try OutputLine(item.conflict.loser, or: "a deletion")
          let place = place(item.into, item.conflict.store, item.conflict.key)
          return "\(place): \(lost, .old) lost to a later write"
        }
        + waiting.map { OutputLine("  " + $0) }
    }
  }

  /// Lines about entries that wait.
  package var waiting: [String] {
    report.waiting.map { item in
      "\(name(item.into))  \(item.store.quotedIfNeeded)/\(item.key.quotedIfNeeded): "
        + "from the future, waits until \(item.until.iso8601)"
    }
  }

  /// The number of changes and losses that the report omits.
  private var unlisted: Int {
    let conflicts = report.transfers.reduce(0) { $0 + $1.conflicts }
    return report.omittedChanges + max(0, conflicts - report.conflicts.count)
  }

  private func name(_ device: Int) -> String { paths[device].quotedIfNeeded }

  private func place(_ device: Int, _ store: String, _ key: String) -> OutputLine {
    let address = "\(store.quotedIfNeeded)/\(key.quotedIfNeeded)"
    return "  \(name(device))  \(address, .key)"
  }

  private func line(_ event: MergeReport.Event) -> String {
    switch event {
    case .newReplicaID(let device, _):
      "\(name(device)): was a copy or an older state; it has a new replica ID"
    case .readInFull(let device, let reader):
      "\(name(device)): was away for longer than \(name(reader)) keeps deletions; it was read in"
        + " full, and values that were deleted meanwhile may be back"
    case .conflictsDropped(let device, let count):
      "\(name(device)): its conflict log is full; the oldest \(counted(count, "conflict")) went"
    case .tooLarge(let store, let key):
      "\(store.quotedIfNeeded)/\(key.quotedIfNeeded): is too large for the hub, or for any device;"
        + " it stays here until it is smaller, or, up to 1 MiB, the limit of the hub, or of a proxy"
        + " before it, is raised"
    case .unreadable(let count):
      "\(counted(count, "row")) cannot be read by this version; update Keepsake,"
        + " or see kvsync doctor"
    }
  }

  private func line(_ transfer: MergeReport.Transfer) -> String {
    var parts = ["\(transfer.received) received", "\(transfer.changed) changed"]
    if transfer.waiting > 0 { parts.append("\(transfer.waiting) waiting, from the future") }
    if transfer.conflicts > 0 { parts.append("\(transfer.conflicts) lost and logged") }
    return "\(name(transfer.from)) -> \(name(transfer.into)): "
      + parts.joined(separator: ", ")
  }
}
