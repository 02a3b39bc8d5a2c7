# SPDX-License-Identifier: Apache-2.0
"""Defects that FaultTests must find; Scripts/mutants describes the form."""

MUTANTS = [
    ("readers-share-a-connection", "Two threads use one connection for reading at the same time.",
     ("Sources/Storage/Statements/SecondConnection.swift",
      """
    let isOutermost = lock.enter(waiting: nil) ?? false
    defer { if isOutermost { lock.leave() } }""",
      "")),
    ("reads-past-its-transaction", "A thread does not read its own writes in a transaction.",
     ("Sources/Storage/Storage.swift", "reader, !lock.isMine", "reader")),
    ("told-before-the-commit", "Sets that share a commit return before it.",
     ("Sources/Device/Writing/GroupCommit.swift",
      "for set in taken { try make(set, connection, session) }",
      """for set in taken { try make(set, connection, session) }
            sets.finish(others)
            others = []""")),
    ("what-others-commit-is-no-change", "A cached value stays valid after another process commits.",
     ("Sources/Device/Writing/CommitTrail.swift", "else { return nil }", "else { return [] }")),
]
