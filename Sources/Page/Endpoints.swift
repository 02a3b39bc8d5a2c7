// SPDX-License-Identifier: Apache-2.0

#if Page
  import Foundation
  import HTTPTypes
  import Hummingbird
  import KeepsakeCommandLine
  import KeepsakeDevice
  import KeepsakeValues
  import NIOCore

  /// What the page's server answers, request by request.
  struct Endpoints: Sendable {
    let devices: [OpenDevice]
    let isEditable: Bool
    let common: CommonOptions
    let gate: Gate
    let listeners: Listeners

    func respond(to request: Request) async -> Response {
      do {
        return try await route(request)
      } catch {
        let problem = Problem(error)
        return response(.json(problem.json), problem.status)
      }
    }

    private func route(_ request: Request) async throws -> Response {
      if case .first(let cookie) = try gate.admit(request) { return welcome(cookie) }
      let path = request.uri.path
      switch (request.method, path) {
      case (.get, "/"): return response(Asset.page)
      case (.get, "/api/events"): return events()
      case (.get, _):
        if let asset = Asset.named[path] { return response(asset) }
        let query = Query(request)
        return response(.json(try await apart { try read(path, query) }))
      case (.post, _):
        let body = try Query(await request.body.collect(upTo: Query.most))
        // The session may have ended while the body came.
        _ = try gate.admit(request)
        return response(.json(try await apart { try write(path, body) }))
      default: throw Self.nothing(path)
      }
    }

    static func nothing(_ path: String) -> Problem {
      Problem(.notFound, "there is no \(path)", cure: "open the page at /")
    }

    /// Files are read and written where a thread may wait.
    private func apart<Value: Sendable>(
      _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
      try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result(catching: work)) }
      }
    }

    // MARK: - Answers

    /// What browsers do with our answers, and what they refuse to do.
    private static let policy: HTTPFields = {
      var fields: HTTPFields = [
        .contentSecurityPolicy: """
        default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
        base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
        require-trusted-types-for 'script'; trusted-types 'none'
        """,
        .xContentTypeOptions: "nosniff", .cacheControl: "no-store",
        .crossOriginResourcePolicy: "same-origin",
      ]
      // Names that the library does not have.
      let others = ["Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin"]
      for (name, value) in others {
        if let name = HTTPField.Name(name) { fields[name] = value }
      }
      return fields
    }()

    private func response(_ asset: Asset, _ status: HTTPResponse.Status = .ok) -> Response {
      var fields = Self.policy
      fields[.contentType] = asset.type
      return Response(
        status: status, headers: fields,
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: asset.bytes)))
    }

    /// Goes on to the page by a link of its own: a browser that comes from elsewhere would not
    /// send the cookie along yet.
    private func welcome(_ cookie: String) -> Response {
      var response = response(Asset.welcome)
      response.headers[.setCookie] = cookie
      return response
    }

    private func events() -> Response {
      var fields = Self.policy
      fields[.contentType] = "text/event-stream"
      let (id, events) = listeners.listen()
      return Response(
        status: .ok, headers: fields,
        body: ResponseBody { [listeners] writer in
          defer { listeners.end(id) }
          for await event in events {
            try await writer.write(ByteBuffer(string: "data: \(event)\n\n"))
          }
          try await writer.finish(nil)
        })
    }
  }
#endif
