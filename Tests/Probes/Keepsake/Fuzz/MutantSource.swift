// SPDX-License-Identifier: Apache-2.0

import Faults
import Foundation
import TestSupport

/// Makes mutants of the arena's device file.
struct MutantSource {
  private let arena: Arena
  private let mutations: SQLMutations
  /// The file, and a log with commits that it does not have.
  private let logged: [String: Data]

  init(_ arena: Arena) throws {
    self.arena = arena
    let path = arena.path + "/base"
    try arena.whole.write(to: URL(fileURLWithPath: path))
    mutations = try SQLMutations(PlainDatabase(path))
    logged = try Self.withLog(path)
    guard let log = logged["-wal"], LogChecksums.correct(log) == log else {
      throw Harm(description: "the checksums of SQLite's log are others than ours")
    }
  }

  /// Copies the files by another process, because this one has the connection that keeps the log.
  private static func withLog(_ path: String) throws -> [String: Data] {
    let database = try PlainDatabase(path)
    try database.execute(
      """
      PRAGMA wal_autocheckpoint = 0;
      UPDATE entry SET value = value || ' late' WHERE type = 1 AND key < 'key3';
      DELETE FROM entry WHERE key = 'key8';
      """)
    var files: [String: Data] = [:]
    for suffix in ["", "-wal"] {
      _ = try Command.run(Command.find("cp"), [path + suffix, path + ".copy" + suffix])
      files[suffix] = try Data(contentsOf: URL(fileURLWithPath: path + ".copy" + suffix))
    }
    return withExtendedLifetime(database) { files }
  }

  /// A mutant and its files, by the suffix of their name.
  ///
  /// A mutant that changes no byte is drawn again: its statements fail in SQLite, or find no row.
  func mutant(_ seed: UInt64) throws -> (FileMutant, files: [String: Data]) {
    var generator = SeededGenerator(seed: seed)
    while true {
      let mutant = draw(using: &generator)
      let files = try files(of: mutant)
      if files != original(mutant.log) { return (mutant, files) }
    }
  }

  private func original(_ log: FileMutant.Log) -> [String: Data] {
    log == .none ? ["": arena.whole] : logged
  }

  private func draw(using generator: inout SeededGenerator) -> FileMutant {
    let log: FileMutant.Log =
      switch Int.random(in: 0..<8, using: &generator) {
      case 0: .some
      case 1: .checked
      default: .none
      }
    let count = Int.random(in: 1...3, using: &generator)
    // Statements would apply the log.
    if log == .none, Int.random(in: 0..<3, using: &generator) > 0 {
      let statements = mutations.statements(count, using: &generator)
      return FileMutant(log: log, changes: statements.map(FileMutant.Change.statement))
    }
    let files = original(log)
    return FileMutant(
      log: log, changes: (0..<count).map { _ in ByteDamage.random(of: files, using: &generator) })
  }

  /// The files of a mutant, by the suffix of their name.
  func files(of mutant: FileMutant) throws -> [String: Data] {
    var files = original(mutant.log)
    var statements: [String] = []
    for change in mutant.changes {
      if case .statement(let sql) = change {
        statements.append(sql)
      } else {
        ByteDamage.apply(change, to: &files)
      }
    }
    if !statements.isEmpty { files[""] = try edited(by: statements) }
    if mutant.log == .checked { files["-wal"] = files["-wal"].map(LogChecksums.correct) }
    return files
  }

  private func run(_ statements: [String], in path: String) throws {
    let database = try PlainDatabase(path)
    // With pages of 1 KiB, a statement that would write gigabytes fails.
    let easy = """
      PRAGMA ignore_check_constraints = ON; PRAGMA writable_schema = ON;
      PRAGMA max_page_count = 100000
      """
    for sql in [easy] + statements {
      do {
        try database.execute(sql)
      } catch is ScheduleFailure {}
      if database.isInTransaction { try database.execute("ROLLBACK") }
    }
  }

  /// The file after statements, without those that fail in SQLite.
  private func edited(by statements: [String]) throws -> Data {
    let path = arena.path + "/edited"
    try arena.whole.write(to: URL(fileURLWithPath: path))
    try run(statements, in: path)
    return try Data(contentsOf: URL(fileURLWithPath: path))
  }
}
