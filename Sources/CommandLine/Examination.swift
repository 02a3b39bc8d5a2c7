// SPDX-License-Identifier: Apache-2.0
//
// Finds problems of a device's file that can be opened all the same.

import Foundation
package import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues

/// A problem of a device's file.
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
    /// A damaged file that a recovery put aside.
    case leftover
    /// Writes to a log that was removed.
    case log
  }

  package let kind: Kind
  /// The problem. Never contains a value.
  package let problem: String
  package let cure: String
  /// Whether it has been repaired meanwhile.
  package let isRepaired: Bool

  init(_ kind: Kind, _ problem: String, cure: String, isRepaired: Bool = false) {
    (self.kind, self.problem, self.cure) = (kind, problem, cure)
    self.isRepaired = isRepaired
  }
}

extension Device {
  /// Checks every page, every row, the clock, the replica ID, and the folder.
  ///
  /// - Parameter repairs: whether to repair what loses no data: indexes and the clock.
  package func examine(repairs: Bool = false) throws(KeepsakeError) -> [Finding] {
    let examination = Examination(device: self, repairs: repairs)
    guard repairs else { return try examination.all() }
    return try leased { () throws(KeepsakeError) in try examination.all() }
  }
}

private struct Examination {
  let device: Device
  let repairs: Bool

  func all() throws(KeepsakeError) -> [Finding] {
    let integrity: [Finding]
    do throws(KeepsakeError) {
      integrity = try self.integrity()
      // Rows on damaged pages cannot be read, or not to an end.
      guard integrity.allSatisfy(\.isRepaired) else { return integrity }
      try device.checkSizes()
    } catch {
      // Rows that are too large also end the check of pages, and every read of values.
      guard error.isAboutRowSize else { throw error }
      return [Finding(.row, error.problem, cure: error.cure)]
    }
    return try integrity + rows() + clock() + identity() + surroundings()
  }

  private func integrity() throws(KeepsakeError) -> [Finding] {
    let problems = try check()
    guard !problems.isEmpty else { return [] }
    var left = problems
    // On damaged pages an index would be built from wrong data, or without end.
    if repairs, problems.allSatisfy({ $0.contains(" index ") }) {
      try device.rebuildIndexes()
      left = try check()
    }
    let backups = try file.map { (file) throws(KeepsakeError) in try Device.backups(of: file) }
    let backup = backups?.first?.url.lastPathComponent
    let source = backup.map { "the backup \($0)" } ?? "a backup"
    let cure = "an index can be repaired; otherwise restore \(source), or export what can be read"
    return problems.map { Finding(.integrity, $0, cure: cure, isRepaired: left.isEmpty) }
  }

  private func check() throws(KeepsakeError) -> [String] {
    try device.integrityProblems(limit: 20)
  }

  private func rows() throws(KeepsakeError) -> [Finding] {
    var findings: [Finding] = []
    try device.forEachOddRow { name, problem in
      let finding =
        switch problem {
        case .notUTF8:
          Finding(
            .row, "\(name) is a row whose text is not UTF-8",
            cure: "write the value under another name: no other device reads this row")
        case .unsound:
          Finding(
            .row, "\(name) is a row that no device writes", cure: "set the key anew, or delete it")
        case .notOfItsType(let tag):
          Finding(
            .value, "\(name) is not of its type (number \(tag))",
            cure: "set the key anew; its bytes are kept until then")
        }
      findings.append(finding)
    }
    return findings
  }

  /// A person who asks for `repairs` has checked this machine's clock.
  private func clock() throws(KeepsakeError) -> [Finding] {
    let now = device.clock.milliseconds
    let skew = MergeOptions().maximumClockSkew.milliseconds
    let horizon = HybridTimestamp.horizon(now: now, skew: skew)
    let last = try device.replicaState().last
    var count = 0
    try device.forEachEntry { if $0.timestamp > horizon { count += 1 } }
    guard last > horizon || count > 0 else { return [] }
    let repair = repairs ? try device.repairClock(isForced: true, as: .random()) : nil
    return [
      Finding(
        .clock,
        "its clock is \(max(0, last.milliseconds - now) / 1000) s ahead of this machine's, and"
          + " \(counted(repair?.restamped ?? count, "entry", plural: "entries")) with it",
        cure: "if this machine's clock is right, --repair writes the late entries anew; until then"
          + " others do not read what is written here",
        isRepaired: repair != nil)
    ]
  }

  private func identity() throws(KeepsakeError) -> [Finding] {
    let id = try device.replica()
    let others = try device.formerReplicas().map(\.id) + device.peers().map(\.id)
    if (1..<(1 << 62)).contains(id.rawValue), !others.contains(id) { return [] }
    return [
      Finding(
        .identity, "its replica ID \(id) is not its own",
        cure: "kvsync clone makes a device with a new one")
    ]
  }

  /// The file itself, behind symbolic links; nil in memory.
  private var file: URL? {
    device.file.map { _ in URL(fileURLWithPath: Location.real(device.path)) }
  }

  /// Checks the names of the file, and its folder.
  private func surroundings() throws(KeepsakeError) -> [Finding] {
    guard let file else { return [] }
    let real = file.path
    let folder = file.deletingLastPathComponent()
    do {
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
      let drafts = names.filter { Draft.isDraft($0, of: real) }
        .map { folder.appendingPathComponent($0).path }
      return try hardLinks(real, drafts) + removedLogs(real)
        + names.filter { isAside($0, of: file.lastPathComponent) }.map { name in
          Finding(
            .leftover, "\(name) is a damaged file that a recovery put aside",
            cure: "export what can be read of it, then remove it and its -wal")
        }
    } catch {
      throw KeepsakeError(
        .permissionDenied, path: device.path, "its folder cannot be searched",
        cure: "check the folder's permissions", cause: error)
    }
  }

  /// Two names of one file have two logs, and each loses what is written under the other.
  /// https://www.sqlite.org/howtocorrupt.html, section 2.5
  private func hardLinks(_ real: String, _ drafts: [String]) throws -> [Finding] {
    let attributes = try FileManager.default.attributesOfItem(atPath: real)
    let ours = try drafts.filter { try Draft.hasLink(to: device.file, in: $0) }.count
    guard let links = attributes[.referenceCount] as? Int, links - ours > 1 else { return [] }
    return [
      Finding(
        .identity, "the file has \(links - ours) names (hard links)",
        cure: "keep one and remove the others; what is written under two names is lost")
    ]
  }

  /// Writes to a log that was removed while it was in use.
  private func removedLogs(_ real: String) -> [Finding] {
    LostLog.all(of: real).map { path in
      Finding(
        .log,
        "\(URL(fileURLWithPath: path).lastPathComponent) holds writes to a log that was removed",
        cure: "merge it with this file, with --store for each store of it, and remove it then")
    }
  }

  /// Whether this is the name of a damaged file that was put aside, and not of its log.
  private func isAside(_ name: String, of file: String) -> Bool {
    guard name.hasPrefix(file) else { return false }
    return name.dropFirst(file.count)
      .wholeMatch(of: /\.corrupt-\d{4}-\d\d-\d\dT\d{6}(-\d+)?/) != nil
  }
}
