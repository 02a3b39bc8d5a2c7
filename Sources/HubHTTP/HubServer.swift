// SPDX-License-Identifier: Apache-2.0

#if Hub
  package import KeepsakeHubServer
  import Foundation
  import HTTPTypes
  import Hummingbird
  import HummingbirdCore
  package import Logging
  import NIOCore
  import ServiceLifecycle

  #if HubTLS
    import HummingbirdTLS
    import NIOSSL
  #endif

  /// A hub as others reach it: HTTP, over a database.
  package struct HubServer: Sendable {
    package struct Settings: Sendable {
      package var host = "127.0.0.1"
      /// 0 for any that is free.
      package var port = 7890
      /// The operator's secret, with which accounts are made.
      package var secret = ""
      /// PEM files of a certificate with its chain, and of its key; both or none.
      package var certificate: String?
      package var key: String?
      package var limits = ServerLimits()
      /// Milliseconds since 1970.
      package var now: @Sendable () -> Int64 = {
        Int64((Date().timeIntervalSince1970 * 1000).rounded(.down))
      }
      /// Waits: for the next beat of a stream, the end of a long poll, a body that does not come.
      package var sleep: @Sendable (Duration) async throws -> Void = {
        try await Task.sleep(for: $0)
      }
      package var logger = Logger(label: "kvsync-hub")

      package init() {}
    }

    private let database: any HubDatabase
    private let settings: Settings

    package init(_ database: any HubDatabase, settings: Settings) {
      (self.database, self.settings) = (database, settings)
    }

    /// Serves until the task is cancelled, or the process gets SIGTERM or SIGINT; then requests
    /// under way end, event streams close, and so does the database.
    ///
    /// - Parameter onListening: called once, with the port that was taken.
    package func run(
      onListening: @escaping @Sendable (_ host: String, _ port: Int) -> Void = { _, _ in }
    ) async throws {
      defer { database.close() }
      let (endpoints, settings) = (Endpoints(database, settings), settings)
      let application = Application(
        responder: CallbackResponder<BasicRequestContext> { request, _ in
          await endpoints.respond(to: request)
        },
        server: try builder(),
        configuration: ApplicationConfiguration(
          address: .hostname(settings.host, port: settings.port)),
        onServerRunning: { channel in
          onListening(settings.host, channel.localAddress?.port ?? settings.port)
        }, logger: quiet(settings.logger))
      let group = ServiceGroup(
        configuration: ServiceGroupConfiguration(
          services: [application], gracefulShutdownSignals: [.sigterm, .sigint],
          logger: quiet(settings.logger)))
      try await group.run()
    }

    /// What the libraries say of each connection is of no use to who runs a hub.
    private func quiet(_ logger: Logger) -> Logger {
      var logger = logger
      logger.logLevel = max(logger.logLevel, .warning)
      return logger
    }

    private func builder() throws -> HTTPServerBuilder {
      let most = settings.limits.bodyBytes
      let plain = HTTPServerBuilder.http1(
        configuration: HTTP1Channel.Configuration(
          additionalChannelHandlers: [BodyGate(most: most)], idleTimeout: .seconds(90),
          httpDecoderConfiguration: .init(
            maxHeaderFieldSize: 8_192, maxHeaderListSize: 16_384, maxHeaderFieldCount: 100)))
      guard let certificate = settings.certificate, let key = settings.key else { return plain }
      #if HubTLS
        return try .tls(
          plain,
          tlsConfiguration: .makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(certificate)
              .map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem))))
      #else
        _ = (certificate, key)
        throw HubServerError.noTLS
      #endif
    }
  }

  package enum HubServerError: Error {
    /// A certificate was given to a hub that was built without TLS.
    case noTLS
  }
#endif
