// SPDX-License-Identifier: Apache-2.0

import Faults
import Foundation
import KeepsakeDevice
import KeepsakeTesting

/// Plays rounds of kills, and counts their results.
struct KillRunner {
  private struct Tally {
    var rounds = 0
    var inside = 0
    var acknowledged = 0
  }

  private let template: RoundTemplate
  private var tallies: [VictimWork: Tally] = [:]
  /// How long each work takes without a kill, as it was measured last.
  private var durations: [VictimWork: Duration] = [:]
  /// How long `kvsync` runs until it begins to work.
  private let startup: Duration

  /// - Parameter folder: for all files.
  init(_ folder: String) throws {
    template = try RoundTemplate(in: folder)
    startup = try VictimProcess(
      program: Program.beside("kvsync"), arguments: ["--version"], givesSigns: false
    ).run(life: nil).duration
  }

  var rounds: Int { tallies.values.reduce(0) { $0 + $1.rounds } }
  var inside: Int { tallies.values.reduce(0) { $0 + $1.inside } }
  /// The works that few kills hit inside. Fewer than five rounds prove nothing.
  var seldomHit: [String] {
    tallies.filter { $0.value.rounds >= 5 && $0.value.inside * 3 < $0.value.rounds }
      .map(\.key.rawValue).sorted()
  }

  /// Plays one round.
  ///
  /// - Throws: `Complaint` when Keepsake has not kept what it promises.
  mutating func play(_ work: VictimWork, _ seed: UInt64) throws {
    let round = try template.newRound()
    let end = try kill(work, seed, round)
    try KillVerdict(work: work, seed: seed, template: template, round: round).check(end)
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

  private mutating func kill(
    _ work: VictimWork, _ seed: UInt64, _ round: KillRound
  ) throws -> VictimProcess.End {
    let victim = VictimProcess(work, seed, template, round)
    let duration = try duration(work, seed)
    var generator = SeededGenerator(seed: seed)
    let share = Double.random(in: 0..<1, using: &generator)
    let start = victim.givesSigns ? .zero : min(startup, duration)
    let end = try victim.run(life: start + (duration - start) * share)
    // The machine may have become faster or slower: kills are to reach the end of the work too.
    durations[work] = end.isInside ? duration * 1.1 : end.duration
    tallies[work, default: Tally()].rounds += 1
    tallies[work, default: Tally()].inside += end.isInside ? 1 : 0
    tallies[work, default: Tally()].acknowledged += end.acknowledged
    return end
  }

  private mutating func duration(_ work: VictimWork, _ seed: UInt64) throws -> Duration {
    if let known = durations[work] { return known }
    let round = try template.newRound(named: "measured")
    let end = try VictimProcess(work, seed, template, round).run(life: nil)
    durations[work] = end.duration
    return end.duration
  }

  /// The results, in Markdown.
  var table: String {
    var lines = ["| work | rounds | inside | acknowledged |", "| --- | ---: | ---: | ---: |"]
    for work in VictimWork.allCases {
      guard let tally = tallies[work] else { continue }
      let told = work.isWriting ? "\(tally.acknowledged)" : ""
      lines.append("| \(work.rawValue) | \(tally.rounds) | \(tally.inside) | \(told) |")
    }
    return lines.joined(separator: "\n")
  }
}
