// SPDX-License-Identifier: Apache-2.0

#if Page
  import Hummingbird
  import HummingbirdCore
  package import KeepsakeCommandLine
  import KeepsakeDevice
  import Logging
  import NIOCore
  import ServiceLifecycle

  /// Serves a page that shows device files, for the browser of this user.
  package struct PageServer: Sendable {
    private let endpoints: PageEndpoints

    /// Opens the files.
    ///
    /// - Throws: `KeepsakeError`; then the files are as they were.
    package init(_ paths: [String], isEditable: Bool, _ common: CommonOptions) throws {
      let streams = EventStreams()
      let devices = try paths.enumerated().map { number, path in
        let device = try common.open(path, isEditable ? .existing : .readOnly)
        return OpenDevice(path, device, number: number, streams)
      }
      endpoints = PageEndpoints(
        devices: devices, isEditable: isEditable, common: common,
        gate: PageGate { [output = common.output] in
          output.say("a second browser has used the address, so the session is over")
          streams.closeAll()
        }, streams: streams)
    }

    /// Serves until the process gets SIGINT or SIGTERM; then requests under way end.
    ///
    /// - Parameters:
    ///   - port: the port on the loopback interface; 0 for any free port.
    ///   - onListening: called once, with the address that opens the page.
    package func run(
      port: Int, onListening: @escaping @Sendable (_ address: String) -> Void
    ) async throws {
      let endpoints = endpoints
      var logger = Logger(label: "kvsync-page")
      logger.logLevel = .critical
      let application = Application(
        responder: CallbackResponder<BasicRequestContext> { request, _ in
          await endpoints.respond(to: request)
        },
        server: .http1(configuration: HTTP1Channel.Configuration(idleTimeout: .seconds(90))),
        configuration: ApplicationConfiguration(
          address: .hostname("127.0.0.1", port: port),
          availableConnectionsDelegate: .maximum(64, logger: logger)),
        onServerRunning: { channel in
          onListening(endpoints.gate.open(at: channel.localAddress?.port ?? port))
        }, logger: logger)
      var configuration = ServiceGroupConfiguration(
        services: [application, EventStreamShutdown(streams: endpoints.streams)],
        gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
      // A client that reads no answer must not keep the page from ending.
      configuration.maximumGracefulShutdownDuration = .seconds(5)
      try await ServiceGroup(configuration: configuration).run()
    }
  }

  /// Ends the event streams with the server, which waits for them.
  private struct EventStreamShutdown: Service {
    let streams: EventStreams

    func run() async throws {
      try await gracefulShutdown()
      streams.closeAll()
    }
  }
#endif
