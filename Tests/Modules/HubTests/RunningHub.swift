// SPDX-License-Identifier: Apache-2.0

#if Hub
  import Foundation
  import FoundationNetworking
  import HubStoreSupport
  import KeepsakeHubHTTP
  import KeepsakeHubServer
  import KeepsakeValues
  import Testing

  /// A hub on a port of this machine.
  struct RunningHub {
    static let secret = "operator"

    let port: Int
    /// The port of the metrics, if they are served.
    var metricsPort: Int?
    var secret = Self.secret

    struct Answer {
      let status: Int
      let text: String
      let retryAfter: String?

      /// The end of a problem's type.
      var problem: String {
        get throws { try String(member("type").split(separator: ":").last ?? "") }
      }

      /// The text of a member.
      func member(_ name: String) throws -> String {
        let found = text.firstMatch(of: try Regex("\"\(name)\":\"?([^\",}]*)"))
        return try #require(found.flatMap { $0.output[1].substring.map(String.init) }, "\(text)")
      }
    }

    /// Serves in this process as long as the body runs, and then shuts down.
    static func with(
      over store: any HubStore = MemoryStore(),
      _ change: (inout HubServer.Settings) -> Void = { _ in },
      _ body: (RunningHub) async throws -> Void
    ) async throws {
      var settings = HubServer.Settings()
      (settings.port, settings.secret) = (0, secret)
      settings.logger.logLevel = .critical
      change(&settings)
      let server = HubServer(store, settings: settings)
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
      type: String = "application/json", port: Int? = nil, fields: [String: String] = [:]
    ) async throws -> Answer {
      let address = "http://127.0.0.1:\(port ?? self.port)" + path
      var request = URLRequest(url: try #require(URL(string: address)))
      request.httpMethod = method
      if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
      if let body {
        request.httpBody = Data(body.utf8)
        request.setValue(type, forHTTPHeaderField: "Content-Type")
      }
      for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
      let (data, response) = try await URLSession.shared.data(for: request)
      let http = try #require(response as? HTTPURLResponse)
      return Answer(
        status: http.statusCode, text: String(decoding: data, as: UTF8.self),
        retryAfter: http.value(forHTTPHeaderField: "Retry-After"))
    }

    /// - Returns: the first device of a new account.
    func create() async throws -> TestDevice {
      let account = HexNumber.text(Int64.random(in: 1..<1 << 62))
      let device = TestDevice(hub: self, account: account, token: Secrets.random())
      let body = #"{"name":"phone","token":"\#(device.token)"}"#
      let answer = try await ask("PUT", device.path(""), secret, body)
      #expect(answer.status == 201, "\(answer.text)")
      return device
    }
  }

  /// A device of an account.
  struct TestDevice {
    let hub: RunningHub
    let account: String
    let token: String
    var replica = "r"

    func path(_ path: String) -> String { "/v1/accounts/\(account)\(path)" }

    func ask(
      _ method: String, _ path: String, _ body: String? = nil, type: String = "application/json",
      fields: [String: String] = [:]
    ) async throws -> RunningHub.Answer {
      try await hub.ask(method, self.path(path), token, body, type: type, fields: fields)
    }

    func join() async throws -> TestDevice {
      let code = try await ask("POST", "/invitations").member("code")
      let other = TestDevice(hub: hub, account: account, token: Secrets.random(), replica: "other")
      let body = #"{"code":"\#(code)","name":"laptop","token":"\#(other.token)"}"#
      let answer = try await hub.ask("POST", path("/devices"), nil, body)
      #expect(answer.status == 201, "\(answer.text)")
      return other
    }

    /// The newest mark.
    func newest() async throws -> String {
      try await ask("GET", "/rows?replica=\(replica)&rows=1").member("newest")
    }

    static func lines(_ keys: [String], _ row: String = #""dark""#) -> String {
      #"{"rows":\#(keys.count),"mark":"m","vectors":{}}"# + "\n"
        + keys.map { #"{"key":"\#($0)","row":\#(row)}"# + "\n" }.joined()
    }

    /// Pushes rows with the newest mark as their base.
    func push(_ keys: [String], _ row: String = #""dark""#) async throws -> RunningHub.Answer {
      try await push(Self.lines(keys, row), upon: newest())
    }

    func push(_ body: String, upon mark: String) async throws -> RunningHub.Answer {
      try await ask(
        "POST", "/rows?replica=\(replica)", body, type: "application/jsonl",
        fields: ["If-Match": "\"\(mark)\""])
    }
  }
#endif
