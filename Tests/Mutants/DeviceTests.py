# SPDX-License-Identifier: Apache-2.0
"""Defects that DeviceTests must find; Scripts/mutants describes the form."""

MUTANTS = [
    ("equal-is-written", "Setting a local key to an equal value is a write.",
     ("Sources/Device/WriteSession.swift",
      "    guard isSynced || before != content else { return writes += 1 }\n", "")),
    ("future-backup-counts", "A backup with a date in the future replaces one of ours.",
     ("Sources/Device/Backups.swift",
      "Self.backups(of: url).filter({ $0.day <= today }).dropFirst(2)",
      "Self.backups(of: url).dropFirst(2)")),
    ("late-but-made", "A set that timed out throws, and is committed later.",
     ("Sources/Device/SetQueue.swift", "      state.waiting.removeAll { $0 === set }\n", "")),
    ("latest-leads", "The set that came last is made first.",
     ("Sources/Device/SetQueue.swift", "state.waiting.append(set)", "state.waiting.insert(set, at: 0)")),
    ("lesser-commit", "A set that must survive a power failure shares a commit that does not.",
     ("Sources/Device/SetQueue.swift", "set.durability <= durability, !set.isAlone", "!set.isAlone")),
    ("one-backup-more", "A device keeps four daily backups.",
     ("Sources/Device/Backups.swift",
      "Self.backups(of: url).filter({ $0.day <= today }).dropFirst(2)",
      "Self.backups(of: url).filter({ $0.day <= today }).dropFirst(3)")),
    ("one-step-of-many", "Observers receive the sets of a shared commit as one change set.",
     ("Sources/Device/Core.swift", "session.steps.isEmpty ? [whole()] : session.steps", "[whole()]")),
    ("reads-by-its-name", "A second connection opens any file that has the name.",
     ("Sources/Storage/SecondConnection.swift",
      "return found == file", "return file != nil || found == file")),
    ("refused-with-the-others", "A refused set fails the other sets of its commit.",
     ("Sources/Device/GroupCommit.swift",
      """
    if isBroken {
      sets.putBack(others)
      return lead(set, true, until: deadline)
    }""",
      "")),
    ("state-is-believed",
     "A transaction continues with the counters of the last one, although another process has written since.",
     ("Sources/Device/WriteSession.swift", "if let last, last.version == version {", "if let last {")),
    ("told-though-rolled-back", "Sets whose commit failed return as if they were committed.",
     ("Sources/Device/GroupCommit.swift",
      "    if let failure { for other in others { other.result = .failure(failure) } }\n", "")),
]
