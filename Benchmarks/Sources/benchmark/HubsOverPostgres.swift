// SPDX-License-Identifier: Apache-2.0
//
// A hub over a PostgreSQL of this machine, beside what that does without one.

import Foundation

private let ours = "a hub over PostgreSQL"
private let store = "its store, without HTTP"
private let bare = "the same statements, pgbench"

func overPostgres(_ report: Report, _ work: String, _ seconds: String) {
  do {
    let postgres = try Postgres()
    defer { postgres.end() }
    // It makes its tables.
    let hub = try ServedHub(["--postgres", postgres.address])
    let race = Race(rounds: 3...9, seconds: 8, warmsUp: false)
    race.enter(ours) { 1e9 / (try hub.figures(["pushes", "--seconds", seconds])[0]) }
    race.enter(store) { 1e9 / (try postgres.storePushes(seconds)) }
    race.enter(bare) { try postgres.pushes(Scale.isQuick ? 200 : 2_000) }
    race.row(work, ours, beside: [bare])
    race.row(work + ", without HTTP", store, beside: [bare])
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

  var address: String { "postgresql://postgres@/postgres?host=\(folder)" }

  /// Nanoseconds of each of so many pushes of ten rows, by eight clients with an account each.
  func pushes(_ count: Int) throws -> Double {
    try run("psql", ["-h", folder, "-U", "postgres", "-q", "-X", "-c", Self.accounts])
    let script = folder + "/push.sql"
    try Self.push.write(toFile: script, atomically: false, encoding: .utf8)
    let words = ["-h", folder, "-U", "postgres", "-n", "-M", "prepared", "-c", "8", "-j", "1"]
    let text = try run(
      "pgbench", words + ["-D", "base=0", "-t", "\(count)", "-f", script, "postgres"])
    let line = text.split(separator: "\n").first { $0.hasPrefix("tps = ") } ?? ""
    guard let rate = line.split(separator: " ").compactMap({ Double($0) }).first else {
      throw Failure("pgbench says \(text)")
    }
    let taken = try run(
      "psql", ["-h", folder, "-U", "postgres", "-q", "-X", "-A", "-t", "-c", Self.least])
    guard taken.trimmingCharacters(in: .whitespacesAndNewlines) == "\(10 * count)" else {
      throw Failure("the pushes of pgbench were not taken: \(taken)")
    }
    return 1e9 / rate
  }

  /// Pushes of ten rows in a second, by a hub's store.
  func storePushes(_ seconds: String) throws -> Double {
    let probe = [Command.beside("keepsake-hub-probe"), "store", address]
    let output = try Command.run(probe + ["pushes", "--seconds", seconds])
    guard let rate = output.split(separator: " ").first.flatMap({ Double($0) }) else {
      throw Failure("the probe says \(output)")
    }
    return rate
  }

  /// The number of the account that has taken the fewest rows.
  private static let least = "SELECT min(mark_number) FROM keepsake_account WHERE id <= 8"

  private static let accounts = """
    DELETE FROM keepsake_account WHERE id <= 8;
    DELETE FROM keepsake_row WHERE account <= 8;
    DELETE FROM keepsake_mark WHERE account <= 8;
    DELETE FROM keepsake_replica WHERE account <= 8;
    DELETE FROM keepsake_vectors WHERE account <= 8;
    DELETE FROM keepsake_device WHERE account <= 8;
    INSERT INTO keepsake_account SELECT i, 0, 0, 0, 0, 0, 0 FROM
      generate_series(1, 8) AS i;
    INSERT INTO keepsake_device SELECT i, 1, 0, 0, 'd', 't' FROM
      generate_series(1, 8) AS i;
    """

  /// As `HubFastPush` in Sources/Postgres. The bits of a mark are its number.
  private static let push = """
    \\set account :client_id + 1
    \\set number :base + 10
    \\set first random(0, 989)
    \\startpipeline
    BEGIN;
    UPDATE keepsake_account AS a SET mark_number = a.mark_number + 10, mark_bits = :number,
      mark_time = greatest(mark_time, 1),
      rows = a.rows + 10 - old.rows, bytes = a.bytes + 1000 - old.bytes
    FROM (
      SELECT count(*) AS rows, coalesce(max(number), 0) AS number,
        coalesce(sum(octet_length(key) + octet_length(body)), 0)::bigint AS bytes
      FROM keepsake_row WHERE account = :account AND key = ANY (ARRAY(
        SELECT ('cloud/key ' || i)::bytea FROM generate_series(:first, :first + 9) AS i))
    ) AS old
    WHERE id = :account AND greatest(old.number, a.forgotten) <= :base
      AND (:base = 0 OR EXISTS (SELECT FROM keepsake_mark
        WHERE account = :account AND number = :base AND bits = :base))
      AND NOT EXISTS (SELECT FROM keepsake_replica
        WHERE account = :account AND id = 'r' AND number > :base)
      AND (a.mark_bits, a.rows, a.forgotten) = (
        SELECT mark_bits, rows, forgotten FROM keepsake_account WHERE id = :account)
      AND EXISTS (SELECT FROM keepsake_device WHERE account = :account AND token = 't')
    RETURNING mark_number, mark_time;
    INSERT INTO keepsake_row (account, number, is_deleted, key, body)
    SELECT a.id, a.mark_number - i, 0, ('cloud/key ' || (:first + i))::bytea, '"value 1000"'
    FROM generate_series(0, 9) AS i, keepsake_account AS a
    WHERE a.id = :account AND a.mark_bits = :number
    ON CONFLICT (account, key) DO UPDATE
      SET number = excluded.number, is_deleted = excluded.is_deleted, body = excluded.body;
    INSERT INTO keepsake_mark (account, number, time, bits)
    SELECT :account, :number, mark_time, :number FROM keepsake_account
    WHERE id = :account AND mark_bits = :number;
    INSERT INTO keepsake_replica (account, number, id, mark) SELECT :account, :number, 'r', 'm'
    WHERE EXISTS (SELECT FROM keepsake_account WHERE id = :account AND mark_bits = :number)
    ON CONFLICT (account, id) DO UPDATE SET number = excluded.number, mark = excluded.mark;
    DELETE FROM keepsake_vectors WHERE account = :account AND number <= :base;
    INSERT INTO keepsake_vectors (account, number, body)
    SELECT id, mark_number, '{}' FROM keepsake_account
    WHERE id = :account AND mark_bits = :number;
    COMMIT;
    \\endpipeline
    \\set base :number
    """
}
