// SPDX-License-Identifier: Apache-2.0

/// What a write survives once it has returned.
///
/// See https://www.sqlite.org/pragma.html#pragma_synchronous: the two are `NORMAL` and `FULL` of a
/// database with a write-ahead log.
public enum Durability: Sendable, Comparable {
  /// A crash of the program, also `kill -9`. A power cut, or a crash of the system, may take the
  /// last writes away; the file stays consistent.
  case crashSafe
  /// A power cut too, as far as the disk keeps its word: each commit waits for the disk.
  case powerSafe
}

extension Connection {
  /// Takes effect with the next transaction; SQLite ignores it within one.
  package func use(_ durability: Durability) throws {
    try run("PRAGMA synchronous = \(durability == .powerSafe ? "FULL" : "NORMAL")")
  }
}
