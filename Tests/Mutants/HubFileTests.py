# SPDX-License-Identifier: Apache-2.0
"""Defects that HubFileTests must find; Scripts/mutants describes the form."""

REPLAY = r"^HubFileTests\.FileReplayTests"
COMMIT = r"^HubFileTests\.HubGroupCommitTests"
OPENING = r"^HubFileTests\.HubOpeningTests"
RULES = "Sources/HubServer/LogRules.swift"
ROWS = "Sources/HubFile/FileTransaction.swift"
STATEMENTS = "Sources/HubServer/HubStatements.swift"

MUTANTS = [
    ("hub-file-early", "A hub acknowledges a push before it commits it.", COMMIT,
     ("Sources/HubFile/JobBatch.swift",
      "marks.append(try FileTransaction(connection: connection).run(job))",
      """marks.append(try FileTransaction(connection: connection).run(job))
            job.end()""")),
    ("hub-file-together", "A request that fails lets all fail that are committed with it.", COMMIT,
     ("Sources/HubFile/JobBatch.swift", "        _ = JobBatch(jobs[place...place], sole).run(&marks)\n",
      "        jobs[place].fail(error)\n")),
    ("hub-file-moved", "A hub writes to a file that was replaced.",
     ("Sources/HubFile/JobBatch.swift",
      "          if connection.totalChanges != start { try checkNames(connection) }\n", "")),
    ("hub-file-shared", "Another program can open the file of a running hub.", OPENING,
     ("Sources/Storage/Statements/Database.swift",
      '"PRAGMA locking_mode = EXCLUSIVE;"', '"PRAGMA locking_mode = NORMAL;"')),
    ("hub-file-unsynced", "A hub's commit does not wait for the disk.",
     ("Sources/HubFile/HubSchema.swift", "connection.use(.powerSafe)", "connection.use(.crashSafe)")),
    ("hub-file-foreign-log", "A log that is not the file's own is taken over.", OPENING,
     ("Sources/HubFile/HubLog.swift",
      "return now.number > before.number || now.isSame(before)",
      "return true")),
    ("hub-file-through", "A page begins with the row that was read last.", REPLAY,
     (ROWS, "WHERE account = ?1 AND number > ?2", "WHERE account = ?1 AND number >= ?2")),
    ("hub-file-marks", "A mark of another history is known if its number is.", REPLAY,
     (STATEMENTS, "AND number = $2 AND bits = $3", "AND number = $2 AND $3 > 0")),
    ("hub-file-deletions", "A row is not stored as deleted.", REPLAY,
     (STATEMENTS, "row.isDeleted ? 1 : 0", "0")),
    ("hub-file-vectors", "A hub sends vectors that the device has read.", REPLAY,
     (STATEMENTS, "WHERE account = $1 AND number > $4 AND \\(isNew)",
      "WHERE account = $1 AND $4 >= 0 AND \\(isNew)")),
    ("hub-file-old-vectors", "Of too many vectors the newest go.", REPLAY,
     (STATEMENTS, "WINDOW w AS (ORDER BY number DESC)", "WINDOW w AS (ORDER BY number)")),
    ("hub-log-unread", "A push replaces a row that its device has not read.", REPLAY,
     (RULES, " + state.outlines.map(\\.number)", "")),
    ("hub-log-set-back", "A push is taken though the hub was set back since.", REPLAY,
     (RULES, "!state.hasMarks.contains(false) && numbers", "numbers")),
    ("hub-log-push-forgotten", "A push is taken though its device has not read what was forgotten.",
     REPLAY, (RULES, "[account.forgotten, state.replica", "[0, state.replica")),
    ("hub-log-twin", "A push is taken though a copy of its device has pushed.",
     REPLAY, (RULES, "state.replica?.number ?? 0]", "0]")),
    ("hub-log-vectors", "A push drops vectors that its device has not read.", REPLAY,
     (RULES, "read: push.base.number", "read: number - 1")),
    ("hub-log-clock", "A hub's clock goes back with the system's.", REPLAY,
     ("Sources/HubServer/HubRecords.swift", "max(now, newest.time)", "now")),
    ("hub-log-forgotten", "A device that has not read a forgotten deletion goes on.", REPLAY,
     (RULES, "since.number >= account.forgotten", "since.number >= 0")),
]
