// SPDX-License-Identifier: Apache-2.0

#if Page
  import Foundation
  import HTTPTypes
  import Hummingbird
  import KeepsakeCommandLine
  import KeepsakeDevice
  import KeepsakeValues
  import NIOCore

  /// The HTTP endpoints of the page.
  struct PageEndpoints: Sendable {
    let devices: [OpenDevice]
    let isEditable: Bool
    let common: CommonOptions
    let gate: PageGate
    let streams: EventStreams

    func respond(to request: Request) async -> Response {
      do {
        return try await route(request)
      } catch {
        let problem = PageProblem(error)
        return response(.json(problem.json), problem.status)
      }
    }

    private func route(_ request: Request) async throws -> Response {
      if case .first(let cookie) = try gate.admit(request) { return welcome(cookie) }
      let path = request.uri.path
      switch (request.method, path) {
      case (.get, "/"): return response(PageAsset.page)
      case (.get, "/api/events"): return events()
      case (.get, _):
        if let asset = PageAsset.named[path] { return response(asset) }
        let query = PageQuery(request)
        return response(.json(try await blocking { try read(path, query) }))
      case (.post, _):
        let body = try PageQuery(await request.body.collect(upTo: PageQuery.most))
        // The session may have ended while the body was read.
        _ = try gate.admit(request)
        return response(.json(try await blocking { try write(path, body) }))
      default: throw Self.nothing(path)
      }
    }

    static func nothing(_ path: String) -> PageProblem {
      PageProblem(.notFound, "there is no \(path)", cure: "open the page at /")
    }

    /// Runs work with files on a thread that may block.
    private func blocking<Value: Sendable>(
      _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
      try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result(catching: work)) }
      }
    }

    // MARK: - Answers

    /// The fields that tell browsers what to refuse.
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

    private func response(_ asset: PageAsset, _ status: HTTPResponse.Status = .ok) -> Response {
      var fields = Self.policy
      fields[.contentType] = asset.type
      return Response(
        status: status, headers: fields,
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: asset.bytes)))
    }

    /// Leads to the page by a link of its own: a browser that comes from another site would not
    /// send the cookie with a redirect.
    private func welcome(_ cookie: String) -> Response {
      var response = response(PageAsset.welcome)
      response.headers[.setCookie] = cookie
      return response
    }

    private func events() -> Response {
      var fields = Self.policy
      fields[.contentType] = "text/event-stream"
      let (id, events) = streams.open()
      return Response(
        status: .ok, headers: fields,
        body: ResponseBody { [streams] writer in
          defer { streams.close(id) }
          for await event in events {
            try await writer.write(ByteBuffer(string: "data: \(event)\n\n"))
          }
          try await writer.finish(nil)
        })
    }
  }
#endif
