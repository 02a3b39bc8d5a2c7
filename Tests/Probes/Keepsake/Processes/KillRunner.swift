// SPDX-License-Identifier: Apache-2.0

import Faults
import Foundation
import KeepsakeDevice
import KeepsakeTesting

/// Plays rounds of kills, and counts their results.
struct KillRunner {
  private struct Row: Hashable {
    let work: VictimWork
    let backend: SettingsBackend
  }

  private struct Tally {
    var rounds = 0
    var inside = 0
    var acknowledged = 0
    var lost = 0
    var damaged = 0
  }

  private let template: RoundTemplate
  private var tallies: [Row: Tally] = [:]
  /// How long each work takes without a kill, as it was measured last.
  private var durations: [Row: Duration] = [:]
  /// How long `kvsync` runs until it begins to work.
  private let startup: Duration
  private var peerRounds = 0

  /// - Parameter folder: for all files.
  init(_ folder: String) throws {
    template = try RoundTemplate(in: folder)
    startup = try VictimProcess(
      program: Program.beside("kvsync"), arguments: ["--version"], folder: folder,
      givesSigns: false
    ).run(life: nil).duration
  }

  var rounds: Int { tallies.values.reduce(0) { $0 + $1.rounds } }
  var inside: Int { tallies.values.reduce(0) { $0 + $1.inside } }
  /// The works of Keepsake that few kills hit inside. Fewer than five rounds prove nothing.
  var seldomHit: [String] {
    tallies.filter { row, tally in
      row.backend == .keepsake && tally.rounds >= 5 && tally.inside * 3 < tally.rounds
    }.map(\.key.work.rawValue).sorted()
  }

  /// Plays one round. A work of one writer gets a second one for `UserDefaults`, by turns with and
  /// without a call of `synchronize()`.
  ///
  /// - Throws: `Complaint` when Keepsake has not kept what it promises.
  mutating func play(_ work: VictimWork, _ seed: UInt64) throws {
    let round = try template.newRound()
    let end = try kill(Row(work: work, backend: .keepsake), seed, round)
    try KillVerdict(work: work, seed: seed, template: template, round: round).check(end)
    guard work.isOneWriter else { return }
    peerRounds += 1
    let backend = peerRounds.isMultiple(of: 2) ? SettingsBackend.synchronized : .userDefaults
    try playPeer(Row(work: work, backend: backend), seed)
  }

  /// Copies the files of the last round to a folder that stays.
  ///
  /// - Returns: its path.
  func keepFiles(of seed: UInt64) throws -> String {
    let folder = TemporaryFolder.parent + "/killed-\(seed)"
    if FileManager.default.fileExists(atPath: folder) {
      try FileManager.default.removeItem(atPath: folder)
    }
    try FileManager.default.copyItem(atPath: template.lastRound.folder, toPath: folder)
    return folder
  }

  private mutating func playPeer(_ row: Row, _ seed: UInt64) throws {
    let round = try template.newRound()
    let end = try kill(row, seed, round)
    let (reader, output) = (Process(), Pipe())
    reader.executableURL = URL(fileURLWithPath: Program.own)
    reader.arguments = ["read", row.work.rawValue]
    reader.environment = ProcessInfo.processInfo.environment.merging(
      ["XDG_CONFIG_HOME": round.folder]) { $1 }
    reader.standardOutput = output
    try reader.run()
    let text = String(
      decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    reader.waitUntilExit()
    guard reader.terminationStatus == 0, reader.terminationReason == .exit else {
      throw Complaint("the reader of UserDefaults ended by \(reader.terminationStatus)")
    }
    var contents = SettingsContents()
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: "\t", maxSplits: 1)
      if parts.count == 2 { contents[String(parts[0])] = String(parts[1]) }
    }
    switch try WriterOutcome(contents, after: end, row.work, seed) {
    case .lost(let count): tallies[row, default: Tally()].lost += count
    case .damaged: tallies[row, default: Tally()].damaged += 1
    }
  }

  private mutating func kill(
    _ row: Row, _ seed: UInt64, _ round: KillRound
  ) throws -> VictimProcess.End {
    let victim = VictimProcess(row.work, row.backend, seed, template, round)
    let duration = try duration(row, seed)
    var generator = SeededGenerator(seed: seed)
    let share = Double.random(in: 0..<1, using: &generator)
    let start = victim.givesSigns ? .zero : min(startup, duration)
    let end = try victim.run(life: start + (duration - start) * share)
    // The machine may have become faster or slower: kills are to reach the end of the work too.
    durations[row] = end.isInside ? duration * 1.1 : end.duration
    tallies[row, default: Tally()].rounds += 1
    tallies[row, default: Tally()].inside += end.isInside ? 1 : 0
    tallies[row, default: Tally()].acknowledged += end.acknowledged
    return end
  }

  private mutating func duration(_ row: Row, _ seed: UInt64) throws -> Duration {
    if let known = durations[row] { return known }
    let round = try template.newRound(named: "measured")
    let end = try VictimProcess(row.work, row.backend, seed, template, round).run(life: nil)
    durations[row] = end.duration
    return end.duration
  }

  /// The results, in Markdown.
  var table: String {
    let title = "| work | settings | rounds | inside | acknowledged | lost | damaged |"
    var lines = [title, "| --- | --- | ---: | ---: | ---: | ---: | ---: |"]
    for work in VictimWork.allCases {
      for backend in SettingsBackend.allCases {
        guard let tally = tallies[Row(work: work, backend: backend)] else { continue }
        let told = work.isWriting ? "\(tally.acknowledged)" : ""
        lines.append(
          "| \(work.rawValue) | \(backend.rawValue) | \(tally.rounds) | \(tally.inside) | \(told) "
            + "| \(tally.lost) | \(tally.damaged) |")
      }
    }
    return lines.joined(separator: "\n")
  }
}
