// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeTransfer
import KeepsakeValues

#if Hub
  import KeepsakeHubFile
  import KeepsakeHubHTTP
  import Synchronization
#endif

struct ServeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Runs a hub until it is told to end.",
    discussion: """
      Accounts are made with the operator's secret, which stands in a file of its own: beside the \
      hub's, and made with it. Where others than this machine shall reach the hub, let a proxy \
      speak TLS for it, or give it a certificate.

        kvsync hub serve --data hub.db
      """)

  @Option(help: "The file that holds the accounts; made when it is missing.")
  var data: String
  @Option(help: "Where to listen; port 0 for any that is free.")
  var listen = "127.0.0.1:7890"
  @Option(help: "The file of the operator's secret. (default: that of --data, with .secret)")
  var secret: String?
  @Option(help: "The hub's certificate and its chain, PEM.")
  var certificate: String?
  @Option(help: "The key of the certificate, PEM.")
  var key: String?

  func run() throws {
    #if Hub
      let (host, port) = try address()
      guard (certificate == nil) == (key == nil) else {
        throw InputError.usage("(command line): --certificate and --key belong together; give both")
      }
      let path = secret ?? data + ".secret"
      var settings = HubServer.Settings()
      (settings.host, settings.port) = (host, port)
      (settings.certificate, settings.key) = (certificate, key)
      settings.secret = try OperatorSecret.read(path)
      let server = HubServer(
        try HubFile(path: data) { Output.note("\($0)", .failure) }, settings: settings)
      let scheme = certificate == nil ? "http" : "https"
      do {
        try Self.wait {
          try await server.run { host, port in
            Output.standardOutput("\(scheme)://\(host):\(port), operator's secret in \(path)\n")
          }
        }
      } catch HubServerError.noTLS {
        throw KeepsakeError(
          .incompatible, path: "(this kvsync)", "it was built without TLS",
          cure: "build it with --traits HubTLS, or let a proxy speak TLS")
      } catch {
        throw KeepsakeError(
          .inputOutput, path: listen, "the hub cannot serve: \(error)",
          cure: "see that the address is free and the files of the certificate can be read")
      }
    #else
      throw KeepsakeError(
        .incompatible, path: "(this kvsync)", "it was built without the hub's server",
        cure: "build it with: swift build -c release --product kvsync-hub --traits Hub")
    #endif
  }

  #if Hub
    /// Waits on the main thread, which has nothing else to do.
    private static func wait(_ body: @escaping @Sendable () async throws -> Void) throws {
      // Held to put the result in, or to take it out.
      let result = Mutex<Result<Void, any Error>>(.success(()))
      let end = DispatchSemaphore(value: 0)
      Task {
        do { try await body() } catch { result.withLock { $0 = .failure(error) } }
        end.signal()
      }
      end.wait()
      try result.withLock { try $0.get() }
    }

    private func address() throws -> (host: String, port: Int) {
      let colon = listen.lastIndex(of: ":")
      guard let colon, colon != listen.startIndex, let port = UInt16(listen[colon...].dropFirst())
      else {
        throw InputError.usage("(command line): '\(listen)' is no address; give HOST:PORT")
      }
      let host = listen[..<colon].drop { $0 == "[" }.prefix { $0 != "]" }
      return (String(host), Int(port))
    }
  #endif
}

#if Hub
  /// The secret with which accounts are made, in a file that its owner alone can read.
  private enum OperatorSecret {
    /// Reads the secret, and makes it where the file is missing.
    static func read(_ path: String) throws -> String {
      let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      if descriptor >= 0 {
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try file.write(contentsOf: Data((Secrets.random() + "\n").utf8))
        try file.synchronize()
      } else if errno != EEXIST {
        throw KeepsakeError(
          .cannotCreate, path: path, String(cString: strerror(errno)),
          cure: "name another file with --secret")
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
        throw KeepsakeError(
          .malformed, path: path, "this is no secret of 32 characters or more",
          cure: "move the file away; the hub makes one")
      }
      return secret
    }
  }
#endif
