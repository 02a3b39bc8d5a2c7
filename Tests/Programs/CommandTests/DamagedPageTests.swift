// SPDX-License-Identifier: Apache-2.0
//
// One page of a file written over, each page in turn. SQLite has no checksums, so damage within a
// value can pass for a value; all that `PRAGMA integrity_check` finds has to stop a first merge.

import Foundation
import TestSupport
import Testing

@Suite(AddressSpace.isPlain) struct DamagedPageTests {
  /// SQLite's VACUUM would write what it can still read over what it cannot. Where a page is the
  /// copy of another one, each is well formed for itself: only the order of the rows tells.
  @Test(
    arguments: [
      (.ones, FileCommand.merges + [.clone]), (.zeros, FileCommand.merges + [.clone]),
      (.ones, [.compact]), (.noise, [.compact]), (.anotherPage, [.compact]),
      (.anotherPage, [.mergeFirst]),
    ] as [(PageDamage, [FileCommand])])
  func noMergeCloneOrCompactionTakesWhatIsDamagedForWhole(
    _ damage: PageDamage, _ commands: [FileCommand]
  ) throws {
    let arena = try Arena()
    var generator = SeededGenerator(seed: 0)
    for (index, page) in Seeds.some(of: 0..<arena.pageCount, debug: 24).enumerated() {
      let bytes = damage.apply(to: page, of: arena.whole, using: &generator)
      let command = commands[index % commands.count]
      try arena.give(["": bytes], command, "page \(page + 1) \(damage)")
    }
  }

  @Test func aDiffNamesTheFileThatIsDamaged() throws {
    let arena = try Arena()
    var generator = SeededGenerator(seed: 0)
    var refusals = 0
    for page in stride(from: 3, to: arena.pageCount, by: 5) {
      let bytes = PageDamage.ones.apply(to: page, of: arena.whole, using: &generator)
      try arena.give(["": bytes], .diffFirst, "page \(page + 1)")
      try arena.give(["": bytes], .diffLast, "page \(page + 1)")
      if try arena.run(["diff", "bad", "good"]).code == 65 { refusals += 1 }
    }
    #expect(refusals > 0)
  }
}
