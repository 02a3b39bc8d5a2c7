// SPDX-License-Identifier: Apache-2.0
//
// Checks the files of a victim that was killed: they open, the doctor finds nothing, everything
// that was acknowledged is there, and no step is there by halves. The same work succeeds when it is
// repeated, and the devices agree.

import Faults
import Foundation
import Keepsake
import KeepsakeSync

struct KillVerdict {
  let work: VictimWork
  let seed: UInt64
  let template: RoundTemplate
  let round: KillRound

  /// - Parameter end: the end of a victim that used Keepsake.
  /// - Throws: `Complaint`, or the error of the same work when it is repeated.
  func check(_ end: VictimProcess.End) throws {
    let a = try round.examine("a")
    let b = try round.examine("b")
    switch work {
    case .sets, .transactions, .typed: try checkSteps(end)
    case .threads: try checkThreads(a, end)
    case .merge: try checkMerge(["a": a, "b": b])
    case .compaction: try checkCompaction(a)
    case .clone: try checkClone(a)
    case .importing: try checkImport(a)
    }
    try demand(work == .merge || b == template.before["b"], "b was touched")
    try round.converge()
  }

  private func checkSteps(_ end: VictimProcess.End) throws {
    let settings = try SharedSettings(on: round.open("a"))
    let found = try settings.contents(of: WriterSteps.keys(work))
    var steps = WriterSteps(work, seed: seed)
    var wanted = SettingsContents()
    for _ in 0..<end.acknowledged { wanted.apply(steps.next()) }
    // One more may have been done, and not yet acknowledged.
    let isWhole = found == wanted
    wanted.apply(steps.next())
    try demand(
      isWhole || found == wanted, "after \(end.acknowledged) acknowledged steps it holds \(found)")
    steps = WriterSteps(work, seed: seed)
    wanted = [:]
    for _ in 0..<WriterSteps.count {
      let changes = steps.next()
      try settings.apply(changes, as: work)
      wanted.apply(changes)
    }
    try demand(try settings.contents(of: WriterSteps.keys(work)) == wanted, "the steps fail again")
  }

  /// Each thread's steps are there in its own order. The last one may not have been acknowledged.
  private func checkThreads(_ state: KillRound.State, _ end: VictimProcess.End) throws {
    for (thread, told) in end.byThread.enumerated() {
      let found = contents(of: thread, in: state)
      try demand(
        (told...told + 1).contains { found == ThreadSteps.contents(of: thread, after: $0) },
        "thread \(thread) was told of \(told) steps, and left \(found)")
    }
    try WorkCommand.setAtOnce(SharedSettings(on: round.open("a"))) { _ in }
    let again = try round.examine("a")
    for thread in 0..<ThreadSteps.threads {
      try demand(
        contents(of: thread, in: again)
          == ThreadSteps.contents(of: thread, after: ThreadSteps.count), "the steps fail again")
    }
  }

  private func contents(of thread: Int, in state: KillRound.State) -> SettingsContents {
    var contents = SettingsContents()
    for number in 0...1 {
      let key = ThreadSteps.key(thread, number)
      guard case .some(.some(let cell)) = state[Address(store: StoreName.cloud, key: key)] else {
        continue
      }
      contents[key] = cell.value.map { "\($0)" }
    }
    return contents
  }

  private func checkMerge(_ states: [String: KillRound.State]) throws {
    for (name, state) in states {
      let before = template.before[name] ?? [:]
      for address in Set(state.keys).union(before.keys).union(template.merged.keys) {
        try demand(
          state[address] == before[address] || state[address] == template.merged[address],
          "\(name): \(address) is neither what it was nor what it is to be")
      }
    }
    try demand(try round.converge() == template.merged, "the merge ends in another state")
  }

  private func values(_ state: KillRound.State?) -> KillRound.State {
    (state ?? [:]).filter { $0.value != nil }
  }

  private func checkCompaction(_ state: KillRound.State) throws {
    let wanted = values(template.before["a"])
    try demand(values(state) == wanted, "a value was lost or changed")
    let device = try round.open("a")
    try device.compact(keeping: .zero)
    try demand(try device.compact(keeping: .zero).dropped == 0, "tombstones were left")
    try demand(try values(round.examine("a")) == wanted, "a value was lost in the second one")
  }

  private func checkClone(_ state: KillRound.State) throws {
    try demand(state == template.before["a"], "a was touched")
    if !round.exists("c") { try round.open("a").clone(to: round.path("c")) }
    try demand(try round.examine("c") == state, "the clone is another")
    try demand(
      try round.open("c").replica() != round.open("a").replica(), "the clone has its identity")
    let left = try FileManager.default.contentsOfDirectory(atPath: round.folder)
      .filter { $0.contains(".new-") }
    try demand(left.isEmpty, "left over: \(left)")
  }

  private func checkImport(_ state: KillRound.State) throws {
    let count = state.keys.count { $0.key.string.hasPrefix("imported") }
    try demand([0, RoundTemplate.importedCount].contains(count), "\(count) lines were imported")
    let end = try VictimProcess.importing(template, round).run(life: nil)
    try demand(!end.isInside, "the import fails")
    let wanted = (template.before["a"]?.count ?? 0) + RoundTemplate.importedCount
    try demand(try round.examine("a").count == wanted, "lines are missing when it has ended")
  }
}

extension VictimProcess {
  static func importing(_ template: RoundTemplate, _ round: KillRound) -> VictimProcess {
    VictimProcess(
      program: Program.beside("kvsync"), arguments: ["import", round.path("a"), template.lines],
      givesSigns: false)
  }

  init(_ work: VictimWork, _ seed: UInt64, _ template: RoundTemplate, _ round: KillRound) {
    if work == .importing {
      self = .importing(template, round)
    } else {
      self.init(
        program: Program.own, arguments: ["work", work.rawValue, round.folder, "\(seed)"])
    }
  }
}
