// SPDX-License-Identifier: Apache-2.0

#if Hub
  package import KeepsakeHubServer
  import Foundation
  import HTTPTypes
  import Hummingbird
  import HummingbirdCore
  package import Logging
  import Metrics
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
      /// Where metrics are told, to anybody who comes there; nil for nowhere.
      package var metrics: (host: String, port: Int)?
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
    /// - Parameters:
    ///   - onListening: called once, with the port that was taken.
    ///   - onMetrics: called once, with where metrics are told, if they are.
    package func run(
      onListening: @escaping @Sendable (_ host: String, _ port: Int) -> Void = { _, _ in },
      onMetrics: @escaping @Sendable (_ host: String, _ port: Int) -> Void = { _, _ in }
    ) async throws {
      defer { database.close() }
      let prometheus = settings.metrics.map { _ in PrometheusFactory() }
      let metrics = HubMetrics(prometheus ?? NOOPMetricsHandler.instance)
      let endpoints = Endpoints(database, settings, metrics)
      let server = application(
        try builder(), (settings.host, settings.port),
        { await endpoints.respond(to: $0, on: $1) }, onListening)
      var services: [any Service] = [server]
      if let place = settings.metrics, let prometheus {
        services.append(
          MetricsService(
            application: application(
              plain(settings.limits), place, { request, _ in prometheus.answer(to: request) },
              onMetrics)))
      }
      var configuration = ServiceGroupConfiguration(
        services: services, gracefulShutdownSignals: [.sigterm, .sigint],
        logger: quiet(settings.logger))
      configuration.maximumGracefulShutdownDuration = settings.limits.ending
      try await ServiceGroup(configuration: configuration).run()
    }

    /// Says that it was this one which failed.
    private struct MetricsService: Service {
      let application: any Service

      func run() async throws {
        do {
          try await application.run()
        } catch {
          throw HubServerError.noMetrics("\(error)")
        }
      }
    }

    private func application(
      _ builder: HTTPServerBuilder, _ place: (host: String, port: Int),
      _ respond: @escaping @Sendable (Request, any Channel) async -> Response,
      _ onListening: @escaping @Sendable (_ host: String, _ port: Int) -> Void
    ) -> some ApplicationProtocol {
      Application(
        responder: CallbackResponder<Context> { await respond($0, $1.channel) },
        server: builder,
        configuration: ApplicationConfiguration(
          address: .hostname(place.host, port: place.port),
          availableConnectionsDelegate: .maximum(
            settings.limits.connections, logger: quiet(settings.logger))),
        onServerRunning: { channel in
          onListening(place.host, channel.localAddress?.port ?? place.port)
        }, logger: quiet(settings.logger))
    }

    /// A request, and the connection that it came on.
    private struct Context: RequestContext {
      var coreContext: CoreRequestContextStorage
      let channel: any Channel

      init(source: ApplicationRequestContextSource) {
        (coreContext, channel) = (.init(source: source), source.channel)
      }
    }

    /// What the libraries say of each connection is of no use to who runs a hub.
    private func quiet(_ logger: Logger) -> Logger {
      var logger = logger
      logger.logLevel = max(logger.logLevel, .warning)
      return logger
    }

    private func plain(_ limits: ServerLimits) -> HTTPServerBuilder {
      .http1(
        configuration: HTTP1Channel.Configuration(
          additionalChannelHandlers: [BodyGate(limits)], idleTimeout: TimeAmount(limits.idle),
          httpDecoderConfiguration: .init(
            maxHeaderFieldSize: 8_192, maxHeaderListSize: 16_384, maxHeaderFieldCount: 100)))
    }

    /// Names the file that fails: the library does not.
    private static func read<Value>(
      _ file: String, _ body: (String) throws -> Value
    ) throws -> Value {
      do {
        return try body(file)
      } catch {
        throw HubServerError.noCertificate(file: file, "\(error)")
      }
    }

    private func builder() throws -> HTTPServerBuilder {
      let plain = plain(settings.limits)
      guard let certificate = settings.certificate, let key = settings.key else { return plain }
      #if HubTLS
        var tls = TLSConfiguration.makeServerConfiguration(
          certificateChain: try Self.read(certificate) {
            try NIOSSLCertificate.fromPEMFile($0).map { .certificate($0) }
          },
          privateKey: .privateKey(
            try Self.read(key) { try NIOSSLPrivateKey(file: $0, format: .pem) }))
        tls.minimumTLSVersion = .tlsv12
        // The two may not belong together.
        return try Self.read(key) { _ in try .tls(plain, tlsConfiguration: tls) }
      #else
        _ = (certificate, key)
        throw HubServerError.noTLS
      #endif
    }
  }

  package enum HubServerError: Error {
    /// A file is no certificate, or no key, or cannot be read, and why.
    case noCertificate(file: String, String)
    /// A certificate was given to a hub that was built without TLS.
    case noTLS
    /// Metrics cannot be served, and why.
    case noMetrics(String)
  }
#endif
