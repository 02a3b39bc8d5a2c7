// SPDX-License-Identifier: Apache-2.0
//
// Everything that can be wrong with a device's file and still let it be opened.

import Foundation
package import KeepsakeDevice
import KeepsakeValues

/// Something that an owner should know.
package struct Finding: Sendable, Equatable {
  package enum Kind: String, Sendable {
    /// Pages, indexes or constraints of the file.
    case integrity
    /// A row that no version of ours writes.
    case row
    /// A value that cannot be read.
    case value
    /// The device's clock, or timestamps ahead of it.
    case clock
    /// The replica ID.
    case identity
    /// A file that an interrupted program left behind.
    case leftover
    /// Writes to a log that was removed.
    case log
  }

  package let kind: Kind
  /// What is wrong. Never contains a value.
  package let problem: String
  package let cure: String
  /// Whether it has been repaired meanwhile.
  package var isRepaired = false
}

extension Device {
  /// Looks at everything: every page, every row, the clock, the identity, the folder.
  ///
  /// - Parameters:
  ///   - skew: milliseconds that a timestamp may be ahead of the clock.
  ///   - repairs: repairs what it can without losing anything: indexes, the clock, left-over files.
  package func examine(
    skew: Int64 = MergeOptions().clockSkew, repairs: Bool = false
  ) throws(KeepsakeError) -> [Finding] {
    let examination = Examination(device: self, skew: skew, repairs: repairs)
    guard repairs else { return try examination.all() }
    return try leased { () throws(KeepsakeError) in try examination.all() }
  }
}

private struct Examination {
  let device: Device
  let skew: Int64
  let repairs: Bool

  private var now: Int64 { device.clock.milliseconds }
  private var horizon: HybridTimestamp { .horizon(now: now, skew: skew) }

  func all() throws(KeepsakeError) -> [Finding] {
    let integrity: [Finding]
    do throws(KeepsakeError) {
      integrity = try self.integrity()
    } catch {
      // Rows that are too large end the check of the pages too.
      guard error.isAboutRowSize else { throw error }
      return [Finding(kind: .row, problem: error.problem, cure: error.cure)]
    }
    // What stands on damaged pages cannot be read, or without end.
    guard integrity.allSatisfy(\.isRepaired) else { return integrity }
    let sizes = try sizes()
    // What reads values ends there.
    guard sizes.isEmpty else { return sizes }
    return try integrity + rows() + clock() + timestampsAndIdentity() + surroundings()
  }

  private func integrity() throws(KeepsakeError) -> [Finding] {
    let problems = try check()
    guard !problems.isEmpty else { return [] }
    var left = problems
    // Where pages are damaged, an index would be built of what is not there, or without end.
    if repairs, problems.allSatisfy({ $0.contains(" index ") }) {
      try device.core.access { try $0.run("REINDEX") }
      left = try check()
    }
    let backup = try newestBackup().map { "the backup \($0)" } ?? "a backup"
    return problems.map {
      Finding(
        kind: .integrity, problem: $0,
        cure: "an index can be repaired; otherwise restore \(backup), or export what can be read",
        isRepaired: left.isEmpty)
    }
  }

  private func newestBackup() throws(KeepsakeError) -> String? {
    guard case .file(_, let real) = device.core.location else { return nil }
    return try Device.backups(of: URL(fileURLWithPath: real)).first?.url.lastPathComponent
  }

  private func check() throws(KeepsakeError) -> [String] {
    try device.core.access { try $0.integrityProblems(limit: 20) }
  }

  private func sizes() throws(KeepsakeError) -> [Finding] {
    do throws(KeepsakeError) {
      try device.checkSizes()
      return []
    } catch {
      // Other checks report what else stops it.
      guard error.isAboutRowSize else { return [] }
      return [Finding(kind: .row, problem: error.problem, cure: error.cure)]
    }
  }

  private func rows() throws(KeepsakeError) -> [Finding] {
    var findings: [Finding] = []
    try device.forEachEntry { entry in
      let name = "\(entry.address.store)/\(entry.address.key)"
      let content = entry.content
      let isOdd =
        entry.address.key.string.isEmpty || entry.timestamp < .zero || entry.replicaID.rawValue <= 0
        || content.isTombstone != (content.cell == .null)
      if isOdd {
        findings.append(
          Finding(
            kind: .row, problem: "\(name) is a row that no device writes",
            cure: "set the key anew, or delete it"))
      } else if content.value?.kind == .opaque, Tag(rawValue: content.tag) != nil {
        findings.append(
          Finding(
            kind: .value, problem: "\(name) is not of its type (number \(content.tag))",
            cure: "set the key anew; its bytes are kept until then"))
      }
    }
    return findings
  }

  /// With `repairs`, a person has looked at this machine's clock.
  private func clock() throws(KeepsakeError) -> [Finding] {
    let last = try device.core.access { try ReplicaState($0).last }
    guard last > horizon else { return [] }
    let repair = repairs ? try device.repairClock(isForced: true, as: .random()) : nil
    return [
      Finding(
        kind: .clock,
        problem: "its clock is \((last.milliseconds - now) / 1000) s ahead of this machine's"
          + (repair.map { ", and \(counted($0.restamped, "entry", plural: "entries")) with it" }
            ?? ""),
        cure: "if this machine's clock is right, --repair writes the late entries anew; until then"
          + " others do not read what is written here",
        isRepaired: repair != nil)
    ]
  }

  private func timestampsAndIdentity() throws(KeepsakeError) -> [Finding] {
    try device.core.read { connection in
      var findings: [Finding] = []
      let replica = try ReplicaState(connection)
      let odd = try connection.first("SELECT count(*) FROM entry WHERE sequence_number <= 0") {
        Int($0.integer(0))
      }
      if let odd, odd > 0 {
        findings.append(
          Finding(
            kind: .row,
            problem: "\(counted(odd, "row")) with a sequence number that no device gives",
            cure: "set these keys anew: no other device reads them"))
      }
      findings += try storeNames(connection)
      let future = try connection.first(
        "SELECT count(*) FROM entry WHERE timestamp > ?1", [.integer(horizon.rawValue)]
      ) { $0.integer(0) }
      if let future, future > 0 {
        findings.append(
          Finding(
            kind: .clock, problem: "\(counted(Int(future), "timestamp")) in the future",
            cure: "check this machine's clock, then --repair writes these entries anew"))
      }
      let known = try connection.first(
        """
        SELECT count(*) FROM (
          SELECT id FROM former_replica UNION ALL SELECT replica_id FROM peer) AS k
        JOIN replica AS r ON r.id = k.id
        """
      ) { $0.integer(0) }
      if !(1..<(1 << 62)).contains(replica.id.rawValue) || known != 0 {
        findings.append(
          Finding(
            kind: .identity, problem: "its replica ID \(replica.id) is not its own",
            cure: "kvsync clone makes a device with a new one"))
      }
      return findings
    }
  }

  private func storeNames(_ connection: Connection) throws -> [Finding] {
    var count = 0
    try connection.run("SELECT store, count(*) FROM entry GROUP BY store") { row in
      if !row.isUTF8(0) { count += Int(row.integer(1)) }
      return true
    }
    guard count > 0 else { return [] }
    return [
      Finding(
        kind: .row, problem: "\(counted(count, "row")) of stores whose names are not UTF-8",
        cure: "write the values to another store: no other device reads these rows")
    ]
  }

  /// Whether this is the name of a damaged file that was put aside; its log goes with it.
  private func isAside(_ name: String, of file: String) -> Bool {
    rest(of: name, after: file)?
      .wholeMatch(of: /\.corrupt-\d{4}-\d\d-\d\dT\d{6}(-\d+)?/) != nil
  }

  private func rest(of name: String, after file: String) -> Substring? {
    name.hasPrefix(file) ? name.dropFirst(file.count) : nil
  }

  /// Two names of one file have two logs, and each loses what is written under the other.
  /// https://www.sqlite.org/howtocorrupt.html, section 2.5
  private func hardLinks(besides drafts: Int) throws -> [Finding] {
    guard case .file(_, let real) = device.core.location else { return [] }
    let attributes = try FileManager.default.attributesOfItem(atPath: real)
    guard let links = attributes[.referenceCount] as? Int, links - drafts > 1 else { return [] }
    let count = links - drafts
    return [
      Finding(
        kind: .identity, problem: "the file has \(count) names (hard links)",
        cure: "keep one and remove the others; what is written under two names is lost")
    ]
  }

  /// What is beside the file, and what leads to it.
  private func surroundings() throws(KeepsakeError) -> [Finding] {
    guard case .file(_, let real) = device.core.location else { return [] }
    let file = URL(fileURLWithPath: real)
    let folder = file.deletingLastPathComponent()
    do {
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
      let drafts = names.filter { Draft.isDraft($0, of: real) }
        .map { folder.appendingPathComponent($0).path }
      let links = try hardLinks(
        besides: drafts.filter { try Draft.hasLink(to: device.file, in: $0) }.count)
      let removed = repairs ? device.core.shared.removedDrafts : []
      return links + Finding.removedLogs(of: real)
        + (removed + Draft.abandoned(of: real)).map { name in
          Finding(
            kind: .leftover, problem: "\(name) was left behind when it was being made",
            cure: "--repair removes it", isRepaired: repairs)
        }
        + names.filter { isAside($0, of: file.lastPathComponent) }.map { name in
          Finding(
            kind: .leftover, problem: "\(name) is a damaged file that a recovery put aside",
            cure: "export what can be read of it, then remove it and its -wal")
        }
    } catch {
      throw KeepsakeError(
        .permissionDenied, path: device.path, "its folder cannot be searched",
        cure: "check the folder's permissions", cause: error)
    }
  }
}
