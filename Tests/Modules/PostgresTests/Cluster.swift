// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import Foundation
  import TestSupport

  /// A server of PostgreSQL in a folder of its own, on a socket there. A shell that waits for the
  /// end of its input ends it, and removes the folder: also where this process dies.
  final class Cluster: Sendable {
    /// The one of all tests that leave it running.
    static let shared = Result { try Cluster() }
    private static let programs = "/usr/lib/postgresql/15/bin"
    static let isPossible = FileManager.default.isExecutableFile(atPath: programs + "/initdb")
    static let need = "PostgreSQL's initdb is not in \(programs): install postgresql"

    private let folder: String
    /// Open as long as the server shall live.
    private let life: FileHandle

    init() throws {
      folder = "/tmp/keepsake-pg-\(UUID().uuidString.prefix(8))"
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/bin/bash")
      process.arguments = ["-c", Self.script, "bash", folder, Self.programs, Self.alone]
      let (input, output) = (Pipe(), Pipe())
      life = input.fileHandleForWriting
      (process.standardInput, process.standardOutput) = (input, output)
      try process.run()
      let said = output.fileHandleForReading.readData(ofLength: 6)
      guard said == Data("ready\n".utf8) else {
        throw Command.Missing(description: "no server of PostgreSQL in \(folder)")
      }
    }

    /// Closes what Foundation opens to see the end of its child, which a server that kept it would
    /// hide. Only the child itself keeps it: Foundation waits, for all children, for one without.
    private static let alone =
      #"for f in /proc/$$/fd/*; do f=${f##*/}; ((f < 3)) || eval "exec $f>&-"; done; exec "$@""#

    /// As the account that the package of PostgreSQL makes: root may not run it. The server keeps
    /// nothing open of what this process has, nor the shell's input.
    private static let script = #"""
      trap '' INT TERM HUP
      folder=$1 bin=$2 as=()
      mkdir "$folder" || exit
      if ((EUID == 0)); then chown postgres "$folder"; as=(runuser -u postgres --); fi
      as=(bash -c "$3" bash "${as[@]}")
      cd "$folder" || exit
      "${as[@]}" "$bin/initdb" --no-sync -A trust -U postgres -D data </dev/null >/dev/null &&
        "${as[@]}" "$bin/pg_ctl" -D data -w -l log -o "-c listen_addresses= -c fsync=off \
          -c max_connections=300 -c unix_socket_directories=$folder" start </dev/null >/dev/null &&
        echo ready
      exec >&-
      read -r
      "${as[@]}" "$bin/pg_ctl" -D data -m immediate stop </dev/null >/dev/null 2>&1
      cd / && rm -rf "$folder"
      """#

    /// Ends the server for now.
    func stop() throws { try control("-m", "immediate", "stop") }

    func start() throws {
      try control(
        "-w", "-l", folder + "/log", "-o",
        "-c listen_addresses= -c fsync=off -c unix_socket_directories=\(folder)", "start")
    }

    private func control(_ words: String...) throws {
      let all =
        ["-c", Self.alone, "bash"] + (geteuid() == 0 ? ["runuser", "-u", "postgres", "--"] : [])
        + ["\(Self.programs)/pg_ctl", "-D", folder + "/data"] + words
      _ = try Self.done(Command.run("/bin/bash", all, in: folder))
    }

    private static func done(_ ending: Ending) throws -> String {
      guard ending.code == 0 else { throw Command.Missing(description: "\(ending)") }
      return ending.stdout
    }

    /// Asks for the password of a role from now on.
    func askForPasswords(of role: String) throws {
      let line = "local all \(role) scram-sha-256"
      _ = try Self.done(
        Command.run("/bin/sed", ["-i", "1i \(line)", folder + "/data/pg_hba.conf"]))
      _ = try shell("SELECT pg_reload_conf()", in: "postgres")
      while try shell(
        "SELECT count(*) FROM pg_hba_file_rules WHERE '\(role)' = ANY (user_name)", in: "postgres")
        == "0\n"
      {}
    }

    /// A new database.
    func database() throws -> String {
      let name = "test_\(UUID().uuidString.prefix(8).lowercased())"
      _ = try shell("CREATE DATABASE \(name)", in: "postgres")
      return name
    }

    func url(_ database: String) -> String {
      "postgresql://postgres:secret%21@/\(database)?host=\(folder)"
    }

    @discardableResult
    func shell(_ sql: String, in database: String) throws -> String {
      try Self.done(
        Command.run(
          "\(Self.programs)/psql",
          ["-qAtX", "-h", folder, "-U", "postgres", "-d", database, "-c", sql]))
    }

    deinit {
      do {
        try life.close()
      } catch {
        FileHandle.standardError.write(Data("\(folder) is not removed: \(error)\n".utf8))
      }
    }
  }
#endif
