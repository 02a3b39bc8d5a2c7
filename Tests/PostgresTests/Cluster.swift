// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import Foundation
  import TestSupport

  /// A server of PostgreSQL in a folder of its own, on a socket there; it ends with the last test
  /// that has it.
  final class Cluster: Sendable {
    private let folder: String
    private static let programs = "/usr/lib/postgresql/15/bin"
    static let isPossible = FileManager.default.isExecutableFile(atPath: programs + "/initdb")
    static let need = "PostgreSQL's initdb is not in \(programs): install postgresql"

    init() throws {
      folder = "/tmp/keepsake-pg-\(UUID().uuidString.prefix(8))"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      if geteuid() == 0 {
        _ = try Self.done(Command.run(Command.find("chown"), ["postgres", folder]))
      }
      try run("initdb", ["--no-sync", "-A", "trust", "-U", "postgres", "-D", folder + "/data"])
      try start()
    }

    /// As the account that the package of PostgreSQL makes: root may not run it.
    private func run(_ program: String, _ arguments: [String]) throws {
      // A server that kept what Foundation opens to see the end of its child would hide that end.
      let alone =
        #"for f in /proc/$$/fd/*; do f=${f##*/}; ((f < 3)) || eval "exec $f>&-"; done; "#
        + #"exec "$@""#
      let all = ["/bin/bash", "-c", alone, "bash", "\(Self.programs)/\(program)"] + arguments
      let ending =
        geteuid() == 0
        ? try Command.run(
          Command.find("runuser"), ["-u", "postgres", "--"] + all, in: folder)
        : try Command.run(all[0], Array(all.dropFirst()), in: folder)
      _ = try Self.done(ending)
    }

    private static func done(_ ending: Ending) throws -> String {
      guard ending.code == 0 else { throw Command.Missing(description: "\(ending)") }
      return ending.stdout
    }

    func start() throws {
      try run(
        "pg_ctl",
        [
          "-D", folder + "/data", "-w", "-l", folder + "/log", "-o",
          "-c listen_addresses= -c fsync=off -c unix_socket_directories=\(folder)", "start",
        ])
    }

    func stop() throws { try run("pg_ctl", ["-D", folder + "/data", "-m", "immediate", "stop"]) }

    var url: String { "postgresql://postgres:secret%21@/postgres?host=\(folder)" }

    func shell(_ sql: String) throws -> String {
      try Self.done(
        Command.run(
          "\(Self.programs)/psql", ["-qAtX", "-h", folder, "-U", "postgres", "-c", sql]))
    }

    deinit {
      do {
        try stop()
        try FileManager.default.removeItem(atPath: folder)
      } catch {
        FileHandle.standardError.write(Data("\(folder) was not removed: \(error)\n".utf8))
      }
    }
  }
#endif
