# SPDX-License-Identifier: Apache-2.0
"""Defects that FaultTests must find; Scripts/mutants describes the form."""

FORK = r"^FaultTests\.ForkTests"

MUTANTS = [
    ("lock-of-the-parent", "A process forks while another of its threads holds a lock.", FORK,
     ("Sources/Threads/KeepsakeThreads.c", "  keepsake_unlock_retired();\n", ""),
     ("Sources/Threads/KeepsakeThreads.c",
      "(keepsake_lock_retired, keepsake_unlock_retired,", "(NULL, NULL,")),
    ("readers-of-the-parent", "A forked child waits for readers of its parent.", FORK,
     ("Sources/Threads/KeepsakeThreads.c",
      "  memset(keepsake_reader_counts, 0, sizeof keepsake_reader_counts);\n", "")),
    ("readers-share-a-connection", "Two threads use one connection for reading at the same time.",
     ("Sources/Storage/SecondConnection.swift",
      """
    let isOutermost = turnstile.enter(waiting: nil) ?? false
    defer { if isOutermost { turnstile.leave() } }""",
      "")),
    ("reads-past-its-transaction", "A thread does not read its own writes in a transaction.",
     ("Sources/Storage/Storage.swift", "reader, !turnstile.isMine", "reader")),
    ("told-before-the-commit", "Sets that share a commit return before it.",
     ("Sources/Device/GroupCommit.swift",
      "try makeOthers(set, connection, session, &others)",
      """try makeOthers(set, connection, session, &others)
          sets.finish(others)
          others = []""")),
    ("what-others-commit-is-no-change", "A cached value stays valid after another process commits.",
     ("Sources/Device/CommitTrail.swift", "else { return nil }", "else { return [] }")),
]
