# SPDX-License-Identifier: Apache-2.0
"""Defects that CommandTests must find; Scripts/mutants describes the form."""

FOREIGN_LOG = r"^CommandTests\.ForeignLogTests"
ORPHANED_LOG = r"^CommandTests\.OrphanedLogTests"

MUTANTS = [
    ("changes-in-memory", "An import keeps all values in memory.", r"^CommandTests\.MemoryTests",
     ("Sources/Device/ManyWrites.swift", "if !isObserved { session.drop(after: count) }", "_ = isObserved")),
    ("export-in-memory", "An export keeps its output in memory.", r"^CommandTests\.MemoryTests",
     ("Sources/CommandLine/Output.swift", "if bytes.count >= Self.bufferSize { Self.flush(&bytes) }", "")),
    ("import-reads-once", "An import takes from a pipe what the check of its lines has left.",
     r"^CommandTests\.ImportTests", ("Sources/kvsync/ImportSource.swift", "copy ?? handle", "handle")),
    ("later-origin-first", "Lines with equal timestamps are exported without regard to the replica ID.",
     r"^CommandTests\.ExportOrderTests",
     ("Sources/Device/Reading.swift", "ORDER BY hlc, origin, store, key", "ORDER BY hlc, store, key")),
    ("log-is-believed", "SQLite applies a log that belongs to another file.", FOREIGN_LOG,
     ("Sources/Storage/LogCheck.swift",
      "      if try !isOpen(real) { try refuseForeignLog(location, busyHandler) }\n", "")),
    ("log-is-moved-on-refusal", "Closing a refused file removes its log.",
     ("Sources/Storage/KeepsakeError+SQLite.swift",
      "if error.isRefusal, !error.isAboutRowSize { keepFullLog() }", "_ = error.isRefusal"),
     ("Sources/Storage/Opening.swift", "      defer { if !isOpened { connection.keepFullLog() } }\n", "")),
    ("log-of-another", "The log of another device passes if its sequence number is high enough.", FOREIGN_LOG,
     ("Sources/Storage/LogCheck.swift",
      "lseq >= earlier.lseq && (id == earlier.id || superseded.contains(earlier.id))",
      "lseq >= earlier.lseq")),
    ("log-of-the-past", "A log that is older than the file's last write passes.", FOREIGN_LOG,
     ("Sources/Storage/LogCheck.swift",
      "lseq >= earlier.lseq && (id == earlier.id || superseded.contains(earlier.id))",
      "id == earlier.id || superseded.contains(earlier.id)")),
    ("names-alone-are-compared", "A table with the right name passes, whatever its columns.",
     ("Sources/Storage/Schema.swift", r'"-- \($0.key)\n\($0.value);\n"', r'"-- \($0.key)\n"'),
     ("Sources/Storage/Schema.swift",
      "lines.joined() == Migrations.schema", "lines.allSatisfy(Migrations.schema.contains)")),
    ("orphaned-log", "A new file uses the log of a deleted one.", ORPHANED_LOG,
     ("Sources/Storage/Creation.swift", "log.size > 0", "log.size < 0")),
]
