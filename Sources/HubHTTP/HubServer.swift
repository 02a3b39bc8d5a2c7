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

  /// Serves a hub over HTTP, with its accounts in a database.
  package struct HubServer: Sendable {
    package struct Settings: Sendable {
      package var host = "127.0.0.1"
      /// 0 for any free port.
      package var port = 7890
      /// The operator's secret, with which accounts are made.
      package var secret = ""
      /// The address of the metrics, which need no token; nil for none.
      package var metrics: (host: String, port: Int)?
      package var limits = ServerLimits()
      /// Milliseconds since 1970.
      package var now: @Sendable () -> Int64 = {
        Int64((Date().timeIntervalSince1970 * 1000).rounded(.down))
      }
      /// Waits for the next beat of a stream, or the end of a long poll.
      package var sleep: @Sendable (Duration) async throws -> Void = {
        try await Task.sleep(for: $0)
      }
      package var logger = Logger(label: "kvsync-hub")

      package init() {}
    }

    private let store: any HubStore
    private let settings: Settings

    package init(_ store: any HubStore, settings: Settings) {
      (self.store, self.settings) = (store, settings)
    }

    /// Serves until the task is cancelled, or the process gets SIGTERM or SIGINT; then requests
    /// under way end, event streams close, and so does the database.
    ///
    /// - Parameters:
    ///   - onListening: called once, with the port that was taken.
    ///   - onMetrics: called once, with the address of the metrics, if there is one.
    package func run(
      onListening: @escaping @Sendable (_ host: String, _ port: Int) -> Void = { _, _ in },
      onMetrics: @escaping @Sendable (_ host: String, _ port: Int) -> Void = { _, _ in }
    ) async throws {
      defer { store.close() }
      let metrics = HubMetrics()
      let endpoints = HubEndpoints(store, settings, metrics)
      let server = application(
        builder(settings.limits), (settings.host, settings.port), settings.limits.connections,
        responder(endpoints), onListening)
      var services: [any Service] = [server]
      if let place = settings.metrics {
        services.append(
          MetricsService(
            application: application(
              builder(settings.limits), place, OpenFileLimit.metricsConnections,
              CallbackResponder<BasicRequestContext> { request, _ in
                metrics.answer(to: request, listeners: endpoints.listeners.count)
              },
              onMetrics)))
      }
      var configuration = ServiceGroupConfiguration(
        services: services, gracefulShutdownSignals: [.sigterm, .sigint],
        logger: quiet(settings.logger))
      configuration.maximumGracefulShutdownDuration = settings.limits.shutdownTimeout
      try await ServiceGroup(configuration: configuration).run()
    }

    /// Runs each request in a child task. A task keeps the memory of its deepest call until it
    /// ends, and the task of a connection lives as long as the connection.
    private func responder(_ endpoints: HubEndpoints) -> CallbackResponder<HubContext> {
      let router = endpoints.router.buildResponder()
      return CallbackResponder { request, context in
        async let response = router.respond(to: request, context: context)
        return try await response
      }
    }

    /// Distinguishes the errors of this service from those of the hub.
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

    private func application<Responder: HTTPResponder>(
      _ builder: HTTPServerBuilder, _ place: (host: String, port: Int), _ connections: Int,
      _ responder: Responder,
      _ onListening: @escaping @Sendable (_ host: String, _ port: Int) -> Void
    ) -> some ApplicationProtocol
    where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
      Application(
        responder: responder,
        server: builder,
        configuration: ApplicationConfiguration(
          address: .hostname(place.host, port: place.port),
          availableConnectionsDelegate: .maximum(
            connections, logger: quiet(settings.logger))),
        onServerRunning: { channel in
          onListening(place.host, channel.localAddress?.port ?? place.port)
        }, logger: quiet(settings.logger))
    }

    /// Drops what the libraries log of each connection, which no operator needs.
    private func quiet(_ logger: Logger) -> Logger {
      var logger = logger
      logger.logLevel = max(logger.logLevel, .warning)
      return logger
    }

    private func builder(_ limits: ServerLimits) -> HTTPServerBuilder {
      let configuration = HTTP1Channel.Configuration(
        additionalChannelHandlers: [ConnectionGuard(limits)],
        httpDecoderConfiguration: .init(
          maxHeaderFieldSize: limits.headBytes, maxHeaderListSize: limits.headBytes,
          maxHeaderFieldCount: 100))
      return HTTPServerBuilder {
        RetainedChannel(http: HTTP1Channel(responder: $0, configuration: configuration))
      }
    }
  }

  /// HTTP/1.1 over connections that are retained until they close. If the server's task is
  /// cancelled while accepted connections wait for it, nothing else retains these, and NIO traps
  /// when an open one is released.
  private struct RetainedChannel: ServerChildChannel {
    let http: HTTP1Channel

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
      http.setup(channel: channel, logger: logger).map { value in
        channel.closeFuture.whenComplete { _ in withExtendedLifetime(value) {} }
        return value
      }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
      await http.handle(value: value, logger: logger)
    }
  }

  package enum HubServerError: Error {
    /// Metrics cannot be served, and why.
    case noMetrics(String)
  }
#endif
