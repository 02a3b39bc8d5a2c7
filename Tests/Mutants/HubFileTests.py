# SPDX-License-Identifier: Apache-2.0
"""Defects that HubFileTests must find; Scripts/mutants describes the form."""

MUTANTS = [
    ("hub-file-early", "A hub acknowledges a push before it commits it.",
     ("Sources/HubFile/Batch.swift",
      "outcomes.append(try run(piece, connection, sole))",
      """outcomes.append(try run(piece, connection, sole))
            outcomes.last?.tell()""")),
    ("hub-file-echo", "A page contains a row that the device itself has pushed.",
     ("Sources/HubFile/FileTables+Entries.swift", "max(after, echo.upper)", "max(after, echo.upper - 1)")),
    ("hub-file-moved", "A hub writes to a file that was replaced.",
     ("Sources/HubFile/Batch.swift",
      "          if connection.totalChanges != start { try checkNames(sole, connection) }\n", "")),
    ("hub-file-scan", "A hub reads all rows of an account to find a few.",
     ("Sources/HubFile/FileTables+Entries.swift", "INDEXED BY entry_seq", "NOT INDEXED")),
    ("hub-file-seen", "A hub's version vector goes back.",
     ("Sources/HubFile/FileTables+Seen.swift", "excluded.hlc WHERE excluded.hlc > hlc", "excluded.hlc")),
    ("hub-file-shared", "Another program can open the file of a running hub.",
     ("Sources/Storage/Connector.swift",
      '"PRAGMA locking_mode = EXCLUSIVE;"', '"PRAGMA locking_mode = NORMAL;"')),
    ("hub-file-through", "A page begins with the row that was read last.",
     ("Sources/HubFile/FileTables+Entries.swift", r"seq > ?\(2 * place + 4)", r"seq >= ?\(2 * place + 4)")),
    ("hub-file-undone", "A request that throws leaves its changes.",
     ("Sources/HubFile/Batch.swift",
      "connection.transaction(.immediate, piece.run)", "piece.run(connection)")),
    ("hub-file-unsynced", "A hub's commit does not wait for the disk.",
     ("Sources/HubFile/HubSchema.swift", "connection.use(.powerSafe)", "connection.use(.crashSafe)")),
    ("hub-file-writes", "A request that changes nothing writes to the hub's file.",
     ("Sources/HubFile/FileTables.swift", "    guard account != self.account else { return }\n", "")),
]
