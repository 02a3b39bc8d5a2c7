// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues

struct DoctorCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Checks a device: its pages, rows, clock and replica ID.",
    discussion: """
      Exits with 1 when it finds something. --repair repairs what it can without losing a value: \
      it rebuilds indexes, and writes the entries of a clock that had run ahead anew (make sure \
      that this machine's clock is right; the device gets a new replica ID). On stderr it names \
      the replica IDs that the device had before, and SQLite's version, and whether that has the \
      bug of sqlite.org/wal.html#walresetbug.

        kvsync doctor laptop.keepsake
        kvsync doctor laptop.keepsake --repair
      """)

  @Argument(help: "The device file.", completion: .file()) var file: String
  @Flag(help: "Repair what can be repaired without losing a value.") var repair = false
  @OptionGroup var common: CommonOptions

  func run() throws {
    let device = try common.open(file, repair ? .existing : .readOnly)
    let findings = try device.examine(repairs: repair)
    let open = findings.count { !$0.isRepaired }
    let replica = try device.replica()
    let former = try device.formerReplicas()
    common.output.print(
      .object([
        "ok": .boolean(open == 0), "replica": .string(replica.description),
        "former": .array(former.map(Self.json)),
        "findings": .array(findings.map(Self.json)),
        "sqlite": .object([
          "version": .string(SQLiteVersion.text),
          "walResetBug": .boolean(SQLiteVersion.hasResetBug),
        ]),
      ]),
      lines: findings.isEmpty
        ? ["\(file.quotedIfNeeded): nothing is wrong"] : findings.map { OutputLine(Self.line($0)) },
      isData: !findings.isEmpty)
    if !common.json {
      for replica in former {
        common.output.say(
          "was device \(replica.id) until \(replica.endedAt.iso8601): "
            + Self.text(replica.reason))
      }
      common.output.say(Self.sqlite)
    }
    if open > 0 { throw NegativeAnswer(message: nil) }
  }

  private static let sqlite =
    "SQLite \(SQLiteVersion.text)"
    + (SQLiteVersion.hasResetBug
      ? " has the WAL-reset bug: Keepsake works around it, other programs may not" : "")

  private static func json(_ replica: FormerReplica) -> JSON {
    .object([
      "replica": .string(replica.id.description), "until": .time(replica.endedAt),
      "reason": replica.reason.map { .string($0.rawValue) } ?? .null,
    ])
  }

  private static func text(_ reason: NewIDReason?) -> String {
    switch reason {
    case .clone: "it is a clone of that one"
    case .restore: "a backup was restored"
    case .recovery: "a backup took the place of the damaged file"
    case .account: "it has joined another account of a hub"
    case .copy: "a sync found that it was a copy, or set back to an earlier state"
    case .clock: "its clock had run ahead"
    case nil: "for a reason that this version does not know"
    }
  }

  private static func json(_ finding: Finding) -> JSON {
    .object([
      "kind": .string(finding.kind.rawValue), "problem": .string(finding.problem),
      "cure": .string(finding.cure), "repaired": .boolean(finding.isRepaired),
    ])
  }

  private static func line(_ finding: Finding) -> String {
    let end = finding.isRepaired ? "repaired" : finding.cure
    return "\(finding.kind.rawValue): \(finding.problem.onOneLine); \(end)"
  }
}
