# SPDX-License-Identifier: Apache-2.0
"""Defects that CommandTests must find; Scripts/mutants describes the form."""

FOREIGN_LOG = r"^CommandTests\.ForeignLogTests"
ORPHANED_LOG = r"^CommandTests\.OrphanedLogTests"

MUTANTS = [
    ("changes-in-memory", "An import keeps all values in memory.", r"^CommandTests\.MemoryTests",
     ("Sources/Device/Writing/Writing.swift", "if !isObserved { session.drop(after: count) }", "_ = isObserved")),
    ("endless-export", "An export may have more rows than the file can hold.",
     r"^CommandTests\.EndlessFileTests",
     ("Sources/Device/Entries/Reading.swift", "else { throw holdsEntryTwice }\n      room -= 1\n      var entry",
      "|| true else { throw holdsEntryTwice }\n      room -= 1\n      var entry")),
    ("export-in-memory", "An export keeps its output in memory.", r"^CommandTests\.MemoryTests",
     ("Sources/CommandLine/Output.swift", "if bytes.count >= Self.bufferSize { Self.flush(&bytes) }", "")),
    ("export-of-a-changed-file", "An export prints values that it reads after the file has changed.",
     r"^CommandTests\.ReadOnlyMountTests",
     ("Sources/Device/Entries/Reading.swift",
      "if !isChecked || !isSorted { try tables.checkUnchanged() }", "_ = (isChecked, isSorted)")),
    ("import-reads-once", "An import takes from a pipe what the check of its lines has left.",
     r"^CommandTests\.ImportTests", ("Sources/kvsync/ImportSource.swift", "copy ?? handle", "handle")),
    ("large-values-are-sorted", "An export sorts whole values.", r"^CommandTests\.ExportOrderTests",
     ("Sources/Device/Entries/Reading.swift", "iif(length(CAST(value AS BLOB)) > 1000, NULL, value)", "value")),
    ("later-origin-first", "Lines with equal timestamps are exported without regard to the replica ID.",
     r"^CommandTests\.ExportOrderTests",
     ("Sources/Device/Entries/Reading.swift", "ORDER BY timestamp, replica_id, store, key", "ORDER BY timestamp, store, key")),
    ("log-is-believed", "SQLite applies a log that belongs to another file.", FOREIGN_LOG,
     ("Sources/Storage/Log/LogCheck.swift",
      "    if try !isOpen(real) { try refuseForeignLog(location, busyHandler, migrations) }\n", "")),
    ("log-is-moved-on-refusal", "Closing a refused file removes its log.",
     ("Sources/Storage/Errors/KeepsakeError+SQLite.swift",
      "if error.isRefusal, !error.isAboutRowSize { keepFullLog() }", "_ = error.isRefusal"),
     ("Sources/Storage/Opening/Opening.swift", "      defer { if !isOpened { connection.keepFullLog() } }\n", "")),
    ("log-of-another", "The log of another device passes if its sequence number is high enough.", FOREIGN_LOG,
     ("Sources/Storage/Log/LogCheck.swift",
      "replica.sequenceNumber >= earlier.replica.sequenceNumber\n"
      "      && (replica.id == earlier.replica.id || former.contains(earlier.replica.id.rawValue))",
      "replica.sequenceNumber >= earlier.replica.sequenceNumber")),
    ("log-of-the-past", "A log that is older than the file's last write passes.", FOREIGN_LOG,
     ("Sources/Storage/Log/LogCheck.swift",
      "replica.sequenceNumber >= earlier.replica.sequenceNumber\n"
      "      && (replica.id == earlier.replica.id || former.contains(earlier.replica.id.rawValue))",
      "(replica.id == earlier.replica.id || former.contains(earlier.replica.id.rawValue))")),
    ("names-alone-are-compared", "A table with the right name passes, whatever its columns.",
     ("Sources/Storage/Opening/Schema.swift",
      "objects.count == objectCount && text.isSameBytes(as: Migrations.schema)",
      "objects.count == objectCount")),
    ("tokens-of-others", "A file of tokens that others may read is used.",
     r"^CommandTests\.CredentialsTests",
     ("Sources/kvsync-hub/HubCredentials.swift", "status.st_mode & 0o077 == 0",
      "status.st_mode & 0o002 == 0")),
    ("orphaned-log", "A new file uses the log of a deleted one.", ORPHANED_LOG,
     ("Sources/Storage/Opening/Creation.swift", "log.size > 0", "log.size < 0")),
]
