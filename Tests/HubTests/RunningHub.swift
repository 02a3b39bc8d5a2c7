// SPDX-License-Identifier: Apache-2.0

#if Hub
  import Foundation
  import FoundationNetworking
  import KeepsakeHubHTTP
  import KeepsakeHubServer
  import Testing

  /// A hub on a free port of this machine, in this process, over memory.
  struct RunningHub {
    static let secret = "operator"

    let address: String

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

    /// Serves as long as the body runs, and ends as a hub that is told to.
    static func with(
      _ change: (inout HubServer.Settings) -> Void = { _ in },
      _ body: (RunningHub) async throws -> Void
    ) async throws {
      var settings = HubServer.Settings()
      (settings.port, settings.secret) = (0, secret)
      settings.logger.logLevel = .critical
      change(&settings)
      let server = HubServer(MemoryDatabase(), settings: settings)
      let (ports, listening) = AsyncStream.makeStream(of: Int.self)
      let running = Task {
        defer { listening.finish() }
        try await server.run { _, port in listening.yield(port) }
      }
      var port: Int?
      for await found in ports {
        port = found
        break
      }
      try await body(RunningHub(address: "http://127.0.0.1:\(#require(port))"))
      running.cancel()
      _ = await running.result
    }

    func ask(
      _ method: String, _ path: String, _ token: String? = nil, _ body: String? = nil,
      type: String = "application/json"
    ) async throws -> Answer {
      var request = URLRequest(url: try #require(URL(string: address + path)))
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
      let answer = try await ask("POST", "/v1/accounts", Self.secret, #"{"name":"phone"}"#)
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
