// SPDX-License-Identifier: Apache-2.0

#if Hub
  import Foundation
  import FoundationNetworking
  import HubSupport
  import KeepsakeHubHTTP
  import KeepsakeHubServer
  import Testing

  /// A hub on a port of this machine.
  struct RunningHub {
    static let secret = "operator"

    let port: Int
    /// Where metrics are told, if they are.
    var metricsPort: Int?
    var secret = Self.secret

    struct Answer {
      let status: Int
      let text: String
      let retryAfter: String?

      /// The text of a member.
      func member(_ name: String) throws -> String {
        let found = text.firstMatch(of: try Regex("\"\(name)\":\"?([^\",}]*)"))
        return try #require(found.flatMap { $0.output[1].substring.map(String.init) }, "\(text)")
      }
    }

    /// Serves in this process as long as the body runs, and ends as a hub that is told to.
    static func with(
      over database: any HubDatabase = MemoryDatabase(),
      _ change: (inout HubServer.Settings) -> Void = { _ in },
      _ body: (RunningHub) async throws -> Void
    ) async throws {
      var settings = HubServer.Settings()
      (settings.port, settings.secret) = (0, secret)
      settings.logger.logLevel = .critical
      change(&settings)
      let server = HubServer(database, settings: settings)
      let (ports, listening) = AsyncStream.makeStream(of: Int.self)
      let (metricsPorts, telling) = AsyncStream.makeStream(of: Int.self)
      if settings.metrics == nil { telling.finish() }
      let running = Task {
        defer {
          listening.finish()
          telling.finish()
        }
        try await server.run(
          onListening: { _, port in listening.yield(port) },
          onMetrics: { _, port in telling.yield(port) })
      }
      var place = ports.makeAsyncIterator()
      var metricsPlace = metricsPorts.makeAsyncIterator()
      guard let port = await place.next() else { return try await running.value }
      let hub = RunningHub(port: port, metricsPort: await metricsPlace.next())
      defer { running.cancel() }
      try await body(hub)
      running.cancel()
      _ = await running.result
    }

    func ask(
      _ method: String, _ path: String, _ token: String? = nil, _ body: String? = nil,
      type: String = "application/json", port: Int? = nil
    ) async throws -> Answer {
      let address = "http://127.0.0.1:\(port ?? self.port)" + path
      var request = URLRequest(url: try #require(URL(string: address)))
      request.httpMethod = method
      if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
      if let body {
        request.httpBody = Data(body.utf8)
        request.setValue(type, forHTTPHeaderField: "Content-Type")
      }
      let (data, response) = try await URLSession.shared.data(for: request)
      let http = try #require(response as? HTTPURLResponse)
      return Answer(
        status: http.statusCode, text: String(decoding: data, as: UTF8.self),
        retryAfter: http.value(forHTTPHeaderField: "Retry-After"))
    }

    /// - Returns: the token of an account's first device.
    func create() async throws -> String {
      let answer = try await ask("POST", "/v1/accounts", secret, #"{"name":"phone"}"#)
      #expect(answer.status == 201)
      return try answer.member("token")
    }

    func join(_ token: String) async throws -> Answer {
      let code = try await ask("POST", "/v1/invitations", token).member("code")
      return try await ask("POST", "/v1/devices", nil, #"{"code":"\#(code)","name":"laptop"}"#)
    }

    func sync(_ token: String?, _ text: String) async throws -> Answer {
      try await ask("POST", "/v1/sync", token, text, type: "application/jsonl")
    }
  }
#endif
