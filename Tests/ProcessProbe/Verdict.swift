// SPDX-License-Identifier: Apache-2.0
//
// What has to hold once a victim is dead: its files open, the doctor finds nothing, what was
// acknowledged is there, what is one step is whole; the same work succeeds when it is done again,
// and the partners agree.

import Foundation
import Keepsake
import KeepsakeSync

struct Verdict {
  let work: Work
  let seed: UInt64
  let template: Template
  let round: Round

  /// - Parameter end: of the victim, which was a Keepsake one.
  /// - Throws: `Complaint`, or what the same work throws when it is done again.
  func check(_ end: Victim.End) throws {
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

  private func checkSteps(_ end: Victim.End) throws {
    let settings = try Keeper.keepsake.open(in: round.folder)
    let outcome = try Outcome(
      try settings.contents(of: Steps.keys(work)), after: end, work, seed)
    try demand(outcome != .damaged, "what it holds is the state after no step")
    try demand(outcome == .lost(0), "it has lost acknowledged steps: \(outcome)")
    var steps = Steps(work, seed: seed)
    var wanted = Contents()
    for _ in 0..<Steps.count {
      let changes = steps.next()
      try settings.apply(changes, as: work)
      wanted.apply(changes)
    }
    try demand(try settings.contents(of: Steps.keys(work)) == wanted, "the steps fail again")
  }

  /// Each thread's steps are there in its own order; the one that it was not told of perhaps.
  private func checkThreads(_ state: Round.State, _ end: Victim.End) throws {
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

  private func contents(of thread: Int, in state: Round.State) -> Contents {
    var contents = Contents()
    for number in 0...1 {
      let key = ThreadSteps.key(thread, number)
      guard case .some(.some(let cell)) = state[Address(store: StoreName.cloud, key: key)] else {
        continue
      }
      contents[key] = cell.value.map { "\($0)" }
    }
    return contents
  }

  private func checkMerge(_ states: [String: Round.State]) throws {
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

  private func values(_ state: Round.State?) -> Round.State {
    (state ?? [:]).filter { $0.value != nil }
  }

  private func checkCompaction(_ state: Round.State) throws {
    let wanted = values(template.before["a"])
    try demand(values(state) == wanted, "a value was lost or changed")
    let device = try round.open("a")
    try device.compact(keeping: .zero)
    try demand(try device.compact(keeping: .zero).collected == 0, "tombstones were left")
    try demand(try values(round.examine("a")) == wanted, "a value was lost in the second one")
  }

  private func checkClone(_ state: Round.State) throws {
    try demand(state == template.before["a"], "a was touched")
    if !round.exists("c") { try round.open("a").clone(to: round.path("c")) }
    try demand(try round.examine("c") == state, "the clone is another")
    try demand(
      try round.open("c").replica() != round.open("a").replica(), "the clone has its identity")
    let left = try FileManager.default.contentsOfDirectory(atPath: round.folder)
      .filter { $0.contains(".new-") }
    try demand(left.isEmpty, "left over: \(left)")
  }

  private func checkImport(_ state: Round.State) throws {
    let count = state.keys.count { $0.key.string.hasPrefix("imported") }
    try demand([0, Template.importedCount].contains(count), "\(count) lines were imported")
    let end = try Victim.importing(template, round).run(life: nil)
    try demand(!end.isInside, "the import fails")
    let wanted = (template.before["a"]?.count ?? 0) + Template.importedCount
    try demand(try round.examine("a").count == wanted, "lines are missing when it has ended")
  }
}

/// How what a writer has left compares with what it was told.
enum Outcome: Equatable {
  /// How many of the last acknowledged steps.
  case lost(Int)
  /// It is the state after no step.
  case damaged

  init(_ contents: Contents, after end: Victim.End, _ work: Work, _ seed: UInt64) throws {
    var steps = Steps(work, seed: seed)
    var state = Contents()
    var last = contents.isEmpty ? 0 : nil
    // One more may have been done, and not yet told.
    for number in 1...end.acknowledged + 1 {
      state.apply(steps.next())
      if state == contents { last = number }
    }
    self = last.map { .lost(max(end.acknowledged - $0, 0)) } ?? .damaged
  }
}

extension Victim {
  static func importing(_ template: Template, _ round: Round) -> Victim {
    Victim(
      program: product("kvsync"), arguments: ["import", round.path("a"), template.lines],
      folder: round.folder, givesSigns: false)
  }

  init(_ work: Work, _ keeper: Keeper, _ seed: UInt64, _ template: Template, _ round: Round) {
    if work == .importing {
      self = .importing(template, round)
    } else {
      self.init(
        program: Self.product("process-probe"),
        arguments: ["work", work.rawValue, keeper.rawValue, round.folder, "\(seed)"],
        folder: round.folder)
    }
  }
}
