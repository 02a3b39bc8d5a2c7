// SPDX-License-Identifier: Apache-2.0
//
// A hub over a PostgreSQL of this machine, beside what that does without one.

import Foundation

private let ours = "a hub over PostgreSQL"
private let bare = "one upsert in a transaction, pgbench"

func overPostgres(_ report: Report, _ work: String, _ count: Int) {
  do {
    let postgres = try Postgres()
    defer { postgres.end() }
    let race = Race(rounds: 3...9, seconds: 4, warmsUp: false)
    race.enter(ours) {
      let hub = try Command.kvsync + "-hub"
      return try hubFigures(["http", "pushes", "\(count)", hub, postgres.newDatabase()])[0]
    }
    race.enter(bare) { try postgres.upserts(count) }
    race.row(work, ours, beside: [bare])
    report.run(race)
  } catch {
    report.skip(work, "\(error)")
  }
}

/// A server of its own, with its settings as they come, which only a socket reaches.
private final class Postgres {
  private let folder: String
  private let programs: String
  /// PostgreSQL does not run as root.
  private let user: [String]
  private let server = Process()
  private var databases = 0

  init() throws {
    let versions = "/usr/lib/postgresql"
    let found = try FileManager.default.contentsOfDirectory(atPath: versions)
      .max { $0.compare($1, options: .numeric) == .orderedAscending }
    guard let found else { throw Failure("\(versions) is empty") }
    programs = "\(versions)/\(found)/bin/"
    folder = try Command.run([Command.find("mktemp"), "-d", "/tmp/keepsake.XXXXXX"])
    user =
      getuid() == 0
      ? [try Command.find("setpriv"), "--reuid=postgres", "--regid=postgres", "--clear-groups"]
      : []
    if getuid() == 0 { try Command.run([Command.find("chown"), "postgres", folder]) }
    try run("initdb", ["-A", "trust", "-U", "postgres", "-D", folder + "/data"])
    let words = ["-D", folder + "/data", "-c", "listen_addresses=", "-k", folder]
    let command = user + [programs + "postgres"] + words
    server.executableURL = URL(fileURLWithPath: command[0])
    server.arguments = Array(command.dropFirst())
    server.currentDirectoryURL = URL(fileURLWithPath: "/")
    (server.standardOutput, server.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
    try server.run()
    for _ in 0..<1_000 where !FileManager.default.fileExists(atPath: folder + "/.s.PGSQL.5432") {
      usleep(10_000)
    }
  }

  func end() {
    kill(server.processIdentifier, SIGQUIT)
    server.waitUntilExit()
    do {
      try FileManager.default.removeItem(atPath: folder)
    } catch { print("\(folder) is left: \(error)") }
  }

  @discardableResult
  private func run(_ program: String, _ words: [String]) throws -> String {
    // Its own user need not be able to enter this folder.
    try Command.run(user + [programs + program] + words, in: "/")
  }

  private func sql(_ text: String, in database: String) throws {
    try run("psql", ["-h", folder, "-U", "postgres", "-q", "-X", "-d", database, "-c", text])
  }

  /// Its address.
  func newDatabase() throws -> String {
    databases += 1
    try sql("CREATE DATABASE d\(databases)", in: "postgres")
    return "postgresql://postgres@/d\(databases)?host=\(folder)"
  }

  /// Nanoseconds of each of so many transactions that lock an account, and upsert ten rows of it.
  func upserts(_ count: Int) throws -> Double {
    _ = try newDatabase()
    let database = "d\(databases)"
    try sql(
      """
      CREATE TABLE account (id bigint PRIMARY KEY, seq bigint NOT NULL);
      INSERT INTO account SELECT i, 0 FROM generate_series(1, 1000) AS i;
      CREATE TABLE entry (account bigint, key bytea, value bytea, seq bigint,
        PRIMARY KEY (account, key));
      CREATE UNIQUE INDEX entry_seq ON entry (account, seq);
      """, in: database)
    let script = folder + "/push.sql"
    try """
    \\set account random(1, 1000)
    \\set first random(0, 190)
    \\startpipeline
    BEGIN;
    UPDATE account SET seq = seq + 10 WHERE id = :account;
    INSERT INTO entry
      SELECT :account, ('key ' || i)::bytea, repeat('v', 80)::bytea, a.seq + i - :first
      FROM account AS a, generate_series(:first, :first + 9) AS i WHERE a.id = :account
      ON CONFLICT (account, key) DO UPDATE SET value = excluded.value, seq = excluded.seq;
    COMMIT;
    \\endpipeline
    """.write(toFile: script, atomically: false, encoding: .utf8)
    let words = ["-h", folder, "-U", "postgres", "-n", "-M", "prepared", "-c", "8", "-j", "1"]
    let text = try run("pgbench", words + ["-t", "\(max(1, count / 8))", "-f", script, database])
    let line = text.split(separator: "\n").first { $0.hasPrefix("tps = ") } ?? ""
    guard let rate = line.split(separator: " ").compactMap({ Double($0) }).first else {
      throw Failure("pgbench says \(text)")
    }
    return 1e9 / rate
  }
}
