// SPDX-License-Identifier: Apache-2.0
//
// Several sessions on one pair of files at the same moment.
//
// By bash: a thread of a pool blocks SIGCHLD, programs that it starts inherit that, and dash then
// waits for ever.

import Foundation
import TestSupport
import Testing

@Suite(.serialized) struct SimultaneousMergeTests {
  private let folder: Folder
  private let identities: [String]

  init() throws {
    let folder = try Folder()
    for name in ["a", "b"] { try folder.must("set", name, name, "1") }
    try folder.must("merge", "a", "b")
    self.folder = folder
    identities = try ["a", "b"].map { try folder.replica($0) }
  }

  /// No device was taken for a copy, no conflict was invented, and both hold the same.
  private func expectOnePair(entries: Int) throws {
    try folder.must("merge", "a", "b")
    #expect(try ["a", "b"].map { try folder.replica($0) } == identities)
    for name in ["a", "b"] {
      let counts = """
        SELECT (SELECT count(*) FROM former_replica), (SELECT count(DISTINCT replica_id) FROM peer),
          (SELECT count(*) FROM conflict), (SELECT count(*) FROM entry)
        """
      #expect(try folder.shell("sqlite3", name, counts) == "0|1|0|\(entries)\n", "\(name)")
    }
    #expect(try folder.stores("a") == folder.stores("b"))
    #expect(try folder.names() == ["a", "b"])
  }

  @Test func twoSessionsOnOnePairTakeTurns() throws {
    let script = """
      "$0" settings sync a b one $1 &
      "$0" settings sync a b two $1 &
      "$0" settings sync b a three $1 &
      wait
      """
    let count = 400 * Seeds.list(1).count
    let probe = try Command.probe.get()
    let said = try folder.shell("bash", "-c", script, probe, "\(count)")
    #expect(Set(said.split(separator: "\n")).isSubset(of: ["failure\tlocked"]), "\(said)")
    for name in ["a", "b"] { try folder.must("doctor", name, "--repair") }
    try expectOnePair(entries: 2 + 3 * count)
  }
}
