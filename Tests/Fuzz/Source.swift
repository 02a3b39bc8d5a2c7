// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import TestSupport

/// Makes mutants of the arena's device file.
struct Source {
  private let arena: Arena
  private let schema: Schema
  /// The file, and a log with commits that it does not have.
  private let logged: [String: Data]

  init(_ arena: Arena) throws {
    self.arena = arena
    let path = arena.path + "/base"
    try arena.whole.write(to: URL(fileURLWithPath: path))
    schema = try DatabaseQueue(path: path).read(Schema.init)
    logged = try Self.withLog(path)
    guard let log = logged["-wal"], LogChecksums.correct(log) == log else {
      throw Harm(description: "the checksums of SQLite's log are others than ours")
    }
  }

  /// Another process reads the files: this one has the connection that keeps the log.
  private static func withLog(_ path: String) throws -> [String: Data] {
    let queue = try DatabaseQueue(path: path)
    try queue.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA wal_autocheckpoint = 0")
      try database.execute(
        sql: """
          UPDATE entry SET value = value || ' late' WHERE tag = 1 AND key < 'key3';
          DELETE FROM entry WHERE key = 'key8';
          """)
    }
    var files: [String: Data] = [:]
    for suffix in ["", "-wal"] {
      _ = try Command.run(Command.find("cp"), [path + suffix, path + ".copy" + suffix])
      files[suffix] = try Data(contentsOf: URL(fileURLWithPath: path + ".copy" + suffix))
    }
    try queue.close()
    return files
  }

  /// A mutant and its files, by what follows their name.
  ///
  /// What changes no byte is drawn again: statements that SQLite refuses, or that find no row.
  func mutant(_ seed: UInt64) throws -> (Mutant, files: [String: Data]) {
    var generator = SeededGenerator(seed: seed)
    while true {
      let mutant = draw(using: &generator)
      let files = try files(of: mutant)
      if files != original(mutant.log) { return (mutant, files) }
    }
  }

  private func original(_ log: Mutant.Log) -> [String: Data] {
    log == .none ? ["": arena.whole] : logged
  }

  private func draw(using generator: inout SeededGenerator) -> Mutant {
    let log: Mutant.Log =
      switch Int.random(in: 0..<8, using: &generator) {
      case 0: .some
      case 1: .checked
      default: .none
      }
    let count = Int.random(in: 1...3, using: &generator)
    // Statements would apply the log.
    if log == .none, Int.random(in: 0..<3, using: &generator) > 0 {
      let statements = schema.statements(count, using: &generator)
      return Mutant(log: log, changes: statements.map(Mutant.Change.statement))
    }
    let files = original(log)
    return Mutant(
      log: log, changes: (0..<count).map { _ in Damage.random(of: files, using: &generator) })
  }

  /// What it does to the files, by what follows their name.
  func files(of mutant: Mutant) throws -> [String: Data] {
    var files = original(mutant.log)
    var statements: [String] = []
    for change in mutant.changes {
      if case .statement(let sql) = change { statements.append(sql) } else {
        Damage.apply(change, to: &files)
      }
    }
    if !statements.isEmpty { files[""] = try edited(by: statements) }
    if mutant.log == .checked { files["-wal"] = files["-wal"].map(LogChecksums.correct) }
    return files
  }

  /// The file after statements; those that SQLite refuses are left out.
  private func edited(by statements: [String]) throws -> Data {
    let path = arena.path + "/edited"
    try arena.whole.write(to: URL(fileURLWithPath: path))
    let queue = try DatabaseQueue(path: path)
    try queue.writeWithoutTransaction { database in
      // Of pages of 1 KiB: a statement that would write gigabytes is refused.
      let easy = """
        PRAGMA ignore_check_constraints = ON; PRAGMA writable_schema = ON;
        PRAGMA max_page_count = 100000
        """
      for sql in [easy] + statements {
        do {
          try database.execute(sql: sql)
        } catch is DatabaseError {}
        if database.isInsideTransaction { try database.execute(sql: "ROLLBACK") }
      }
    }
    try queue.close()
    return try Data(contentsOf: URL(fileURLWithPath: path))
  }
}
