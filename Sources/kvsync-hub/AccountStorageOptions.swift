// SPDX-License-Identifier: Apache-2.0
//
// The options that name the database of a hub's accounts.

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeFormats

#if Hub
  import KeepsakeHubFile
  import KeepsakeHubServer
#endif
#if PostgreSQL
  import KeepsakePostgres
#endif

struct AccountStorageOptions: ParsableArguments {
  @Option(
    help: "The file that holds the accounts; created if it is missing.", completion: .file())
  var data: String?
  @Option(
    help: ArgumentHelp(
      """
      The PostgreSQL that holds the accounts, as in postgresql://hub@db1,db2/keepsake. Its \
      password is in ~/.pgpass, or in the file that PGPASSFILE names.
      """, valueName: "url"))
  var postgres: String?
  @Option(
    help: "The file of the operator's secret. (default: that of --data, with .secret)",
    completion: .file())
  var secret: String?

  func validate() throws {
    guard (data == nil) != (postgres == nil) else {
      throw ValidationError("a hub has --data FILE or --postgres URL; give one of them")
    }
    guard let postgres else { return }
    guard secret != nil else {
      throw ValidationError(
        "with --postgres name the operator's secret: --secret FILE, the same for every process")
    }
    // Every user of this machine can see the command line.
    guard !Self.hasPassword(postgres) else {
      throw ValidationError(
        "--postgres has a password, which no command line keeps; write it to ~/.pgpass, mode 0600")
    }
    #if PostgreSQL
      do {
        _ = try PostgresAddress(postgres)
      } catch HubStoreError.broken(let problem) {
        throw ValidationError("--postgres: \(problem)")
      }
    #endif
  }

  private static func hasPassword(_ url: String) -> Bool {
    let (place, query) = (url.prefix { $0 != "?" }, url.drop { $0 != "?" })
    let user = place.drop { $0 != "/" }.drop { $0 == "/" }.split(separator: "@").dropLast().first
    return user?.contains(":") ?? false || query.contains("password=")
  }

  var secretPath: String { secret ?? (data ?? "") + ".secret" }

  #if Hub
    func open() throws -> any HubStore {
      if let data { return try HubFile(path: data) { Output.note("\($0)", .failure) } }
      #if PostgreSQL
        do {
          return try PostgresDatabase(url: postgres ?? "")
        } catch HubStoreError.unavailable(let problem) {
          throw KeepsakeError(
            .unreachable, path: "--postgres", problem,
            cure: "see that the server runs and lets this user in")
        } catch HubStoreError.broken(let problem) {
          throw KeepsakeError(
            .incompatible, path: "--postgres", problem,
            cure: "mend what it says, then start the hub again")
        }
      #else
        throw KeepsakeError.notBuilt(
          "PostgreSQL",
          cure: "build it with --traits PostgreSQL, or keep accounts in a file with --data")
      #endif
    }
  #endif
}

extension KeepsakeError {
  /// The error of a command whose part was not built.
  static func notBuilt(_ part: String, cure: String) -> KeepsakeError {
    KeepsakeError(.incompatible, path: "(this kvsync)", "it was built without \(part)", cure: cure)
  }
}
