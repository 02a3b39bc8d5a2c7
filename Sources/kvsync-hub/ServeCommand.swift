// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeFormats
import KeepsakeValues

#if Hub
  import KeepsakeHubHTTP
  import KeepsakeHubServer
  import Logging
#endif

struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Runs a hub until it gets SIGINT or SIGTERM.",
    discussion: """
      Accounts are created with the operator's secret, which is in a file of its own: beside the \
      hub's, and created with it. If other machines use the hub, let a proxy provide TLS for it.

        kvsync hub serve --data hub.db
        kvsync hub serve --postgres postgresql://hub@db1,db2/keepsake --secret hub.secret
      """)

  @OptionGroup var storage: AccountStorageOptions
  @Option(
    help: ArgumentHelp(
      "The address on which it listens; port 0 for any that is free.", valueName: "host:port"))
  var listen = ListenAddress("127.0.0.1", 7890)
  @Option(
    help: ArgumentHelp(
      "The address of metrics for Prometheus, at /metrics. (default: none)",
      valueName: "host:port"))
  var metrics: ListenAddress?
  @Option(help: "What is logged on stderr: error, warning, info or debug, which lists requests.")
  var log = Level.info
  @OptionGroup var limits: LimitOptions

  enum Level: String, ExpressibleByArgument, CaseIterable { case error, warning, info, debug }

  func run() async throws {
    #if Hub
      let store = try storage.open()
      let server = HubServer(store, settings: try settings(orClosing: store))
      let path = storage.secretPath
      do {
        try await server.run(
          onListening: { host, port in
            let address = ListenAddress(host, port)
            Output.standardOutput("http://\(address), operator's secret in \(path)\n")
          },
          onMetrics: { host, port in
            Output.note("metrics at http://\(ListenAddress(host, port))/metrics")
          })
      } catch HubServerError.noMetrics(let error) {
        throw KeepsakeError(
          .inputOutput, path: metrics?.description ?? "--metrics",
          "metrics cannot be served: \(Self.systemReason(in: error))",
          cure: "see that the address is free")
      } catch {
        throw KeepsakeError(
          .inputOutput, path: listen.description,
          "the hub cannot serve: \(Self.systemReason(in: "\(error)"))",
          cure: "see that the address is free, and one of this machine")
      }
    #else
      throw KeepsakeError.notBuilt(
        "the hub's server",
        cure: "build it with: swift build -c release --product kvsync-hub --traits Hub")
    #endif
  }

  #if Hub
    /// The system's message for the error number at the end of a library's text, or the text if it
    /// has none.
    private static func systemReason(in text: String) -> String {
      guard let end = text.firstMatch(of: /\(errno: (\d+)\)$/), let number = Int32(end.1) else {
        return text
      }
      return String(cString: strerror(number))
    }

    private func settings(
      orClosing store: any HubStore
    ) throws -> HubServer.Settings {
      var settings = HubServer.Settings()
      (settings.host, settings.port) = (listen.host, listen.port)
      settings.metrics = metrics.map { ($0.host, $0.port) }
      do {
        settings.secret = try OperatorSecret.read(at: storage.secretPath)
      } catch {
        store.close()
        throw error
      }
      settings.logger.logLevel = Logger.Level(rawValue: log.rawValue) ?? .info
      try limits.apply(to: &settings.limits)
      let wanted = settings.limits.connections
      settings.limits.connections = OpenFileLimit.connections(wanted: wanted)
      if settings.limits.connections < wanted {
        Output.note(
          "the system's limit of open files allows \(settings.limits.connections) connections, "
            + "not \(wanted); raise it (ulimit -n, LimitNOFILE)", .warning)
      }
      return settings
    }
  #endif
}

#if Hub
  /// The secret with which accounts are made, in a file that its owner alone can read.
  private enum OperatorSecret {
    /// Reads the secret, and creates it if the file is missing.
    static func read(at path: String) throws -> String {
      var status = stat()
      if stat(path, &status) != 0 {
        try create(at: path)
      } else if status.st_mode & 0o077 != 0 {
        Output.note("\(path): others may read the operator's secret; chmod 600 it", .warning)
      }
      let text: String
      do {
        text = try String(contentsOfFile: path, encoding: .utf8)
      } catch {
        throw KeepsakeError(
          .permissionDenied, path: path, "the operator's secret cannot be read",
          cure: "let who runs the hub read it")
      }
      let secret = text.trimmingCharacters(in: .whitespacesAndNewlines)
      guard secret.utf8.count >= 32, !secret.contains(where: \.isWhitespace) else {
        throw InputError(
          kind: .data,
          message: "\(path): this is no secret of 32 characters or more; "
            + "move the file away, and the hub makes one")
      }
      return secret
    }

    /// Creates the file with its content at once. If two hubs create it, one of them does.
    private static func create(at path: String) throws(KeepsakeError) {
      let draft = "\(path).\(Secrets.random().prefix(8))"
      let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw failure(errno, path: path) }
      defer { unlink(draft) }
      let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      do {
        try file.write(contentsOf: Data((Secrets.random() + "\n").utf8))
        try file.synchronize()
      } catch {
        throw KeepsakeError(error, path: path)
      }
      // Some file systems have no hard links.
      guard link(draft, path) == 0 || errno == EEXIST || rename(draft, path) == 0 else {
        throw failure(errno, path: path)
      }
    }

    private static func failure(_ code: Int32, path: String) -> KeepsakeError {
      KeepsakeError(
        .cannotCreate, path: path, String(cString: strerror(code)),
        cure: "name another file with --secret")
    }
  }
#endif
