// SPDX-License-Identifier: Apache-2.0

#if Hub
  import HTTPTypes
  import Hummingbird
  import KeepsakeHub
  import KeepsakeHubServer
  import KeepsakeSync
  import KeepsakeValues
  import NIOCore

  /// What a hub answers, request by request.
  struct Endpoints: Sendable {
    let database: any HubDatabase
    let settings: HubServer.Settings
    let listeners = Listeners()
    private let rate: RateLimit

    init(_ database: any HubDatabase, _ settings: HubServer.Settings) {
      (self.database, self.settings) = (database, settings)
      rate = RateLimit(
        perMinute: settings.limits.requestsPerMinute, burst: settings.limits.burst)
      database.observe { [listeners] account, seq in listeners.tell(account, seq) }
    }

    func respond(to request: Request) async -> Response {
      let response: Response
      do {
        response = try await route(request)
      } catch {
        if case HubDatabaseError.broken(let problem) = error {
          settings.logger.error("the database fails", metadata: ["problem": "\(problem)"])
        }
        response = Problem(error).response
      }
      settings.logger.debug(
        "request",
        metadata: ["method": "\(request.method)", "status": "\(response.status.code)"])
      return response
    }

    private func route(_ request: Request) async throws -> Response {
      let path = request.uri.path.split(separator: "/").map(String.init)
      switch (request.method, path) {
      case (.get, ["health"]): return text("ok\n")
      case (.get, ["ready"]):
        _ = try await database.onDirectory { try $0.accountCount() }
        return text("ok\n")
      case (.get, ["v1"]): return json(greeting)
      case (.post, ["v1", "accounts"]): return try await create(request)
      case (.post, ["v1", "devices"]): return try await join(request)
      case (.post, ["v1", "sync"]): return try await sync(request, authenticate(request))
      case (.get, ["v1", "events"]): return try await events(request, authenticate(request))
      case (.post, ["v1", "invitations"]): return try await invite(authenticate(request))
      case (.get, ["v1", "devices"]): return try await list(authenticate(request))
      case (.get, ["v1", "export"]): return try await export(authenticate(request))
      case (.delete, ["v1", "account"]): return try await delete(request, authenticate(request))
      case (.delete, let path) where path.count == 3 && path.starts(with: ["v1", "devices"]):
        return try await revoke(path[2], authenticate(request))
      default: throw Problem.path("there is no \(request.method) of this path")
      }
    }

    // MARK: - What requests have

    /// Who asks, as long as it does not ask too often.
    private func authenticate(_ request: Request) async throws -> HubMember {
      let hash = Secrets.hash(try token(request))
      let now = settings.now()
      let member = try await accounts(at: now) { try $0.authenticate(hash) }
      if let seconds = rate.take(member.number, at: now) {
        var problem = Problem(
          .tooManyRequests, "busy", "the device asks too often", cure: "wait as Retry-After says")
        problem.retryAfter = seconds
        problem.details = [
          JSON.Member("limit", .integer(Int64(settings.limits.requestsPerMinute)))
        ]
        throw problem
      }
      return member
    }

    private func token(_ request: Request) throws -> String {
      let words = (request.headers[.authorization] ?? "").split(separator: " ")
      guard words.count == 2, words[0].lowercased() == "bearer" else {
        throw HubAccounts.Refusal.token
      }
      return String(words[1])
    }

    func accounts<Result: Sendable>(
      at now: Int64, _ work: @escaping @Sendable (HubAccounts) throws -> Result
    ) async throws -> Result {
      let devices = settings.limits.devices
      return try await database.onDirectory { directory in
        try work(HubAccounts(directory, at: now, devices: devices))
      }
    }

    /// A request's body, as long as it is no larger than it may be and comes in time.
    private func body(_ request: Request, _ type: String, most: Int) async throws -> [UInt8] {
      let given = request.headers[.contentType]?.split(separator: ";").first.map(String.init)
      guard given?.lowercased() == type else {
        throw Problem.malformed("the type of its body is not \(type)")
      }
      let announced = request.headers[.contentLength].flatMap { Int($0) } ?? 0
      guard announced <= most else { throw tooLarge(most) }
      return try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
        group.addTask {
          var bytes: [UInt8] = []
          for try await piece in request.body {
            guard bytes.count + piece.readableBytes <= most else { throw tooLarge(most) }
            bytes += piece.readableBytesView
          }
          return bytes
        }
        group.addTask { [settings] in
          try await settings.sleep(.seconds(30))
          return nil
        }
        defer { group.cancelAll() }
        if let bytes = try await group.next() ?? nil { return bytes }
        var problem = Problem.malformed("its body did not come within 30 seconds")
        problem.closes = true
        throw problem
      }
    }

    private func tooLarge(_ most: Int) -> Problem {
      var problem = Problem(
        .contentTooLarge, "page", "the request is larger than it may be",
        cure: "send fewer rows at a time")
      problem.details = [JSON.Member("limit", .integer(Int64(most)))]
      problem.closes = true
      return problem
    }

    /// Members of an object, all of them text.
    private func members(_ request: Request, _ names: String...) async throws -> [String] {
      let bytes = try await body(request, "application/json", most: 4_096)
      guard let text = String(validating: bytes, as: UTF8.self),
        case .object(let members) = try parsed(text)
      else { throw Problem.malformed("its body is no JSON object") }
      return try names.map { name in
        guard case .string(let value) = members.first(where: { $0.name == name })?.value else {
          throw Problem.malformed("it has no text \"\(name)\"")
        }
        return value
      }
    }

    private func parsed(_ text: String) throws -> JSON {
      do {
        return try JSON(parsing: text)
      } catch {
        throw Problem.malformed("\(error)")
      }
    }

    // MARK: - What answers have

    private func text(_ text: String) -> Response {
      Response(
        status: .ok, headers: [.contentType: "text/plain; charset=utf-8"],
        body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    func json(_ json: JSON, _ status: HTTPResponse.Status = .ok) -> Response {
      Response(
        status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
        body: ResponseBody(byteBuffer: .line(json)))
    }

    private var greeting: JSON {
      .object([
        "protocol": .integer(MessageText.version), "version": "0.1.0".json,
        "time": .integer(settings.now()), "limits": settings.limits.json,
      ])
    }

    // MARK: - Accounts

    private func create(_ request: Request) async throws -> Response {
      guard !settings.secret.isEmpty, Secrets.areEqual(try token(request), settings.secret) else {
        throw Problem(
          .unauthorized, "token", "this is not the operator's secret",
          cure: "ask who runs the hub for it")
      }
      let name = try await members(request, "name")[0]
      let (token, now) = (Secrets.random(), settings.now())
      let hash = Secrets.hash(token)
      let member = try await accounts(at: now) {
        try $0.create(.random(), name: name, token: hash)
      }
      return admitted(member, token)
    }

    private func join(_ request: Request) async throws -> Response {
      let given = try await members(request, "code", "name")
      let (token, now) = (Secrets.random(), settings.now())
      let (code, hash) = (Secrets.hash(given[0]), Secrets.hash(token))
      let member = try await accounts(at: now) {
        try $0.join(code: code, name: given[1], token: hash)
      }
      return admitted(member, token)
    }

    private func admitted(_ member: HubMember, _ token: String) -> Response {
      json(
        .object([
          "account": .integer(member.account), "device": .integer(member.number),
          "token": token.json,
        ]), .created)
    }

    // MARK: - Rows

    private func sync(_ request: Request, _ member: HubMember) async throws -> Response {
      let (limits, now) = (settings.limits, settings.now())
      let bytes = try await body(request, "application/jsonl", most: limits.bodyBytes)
      guard bytes.count(where: { $0 == UInt8(ascii: "\n") }) <= limits.pageRows + 1 else {
        throw tooLarge(limits.pageRows)
      }
      let asked = try bytes.withUnsafeBufferPointer { try HubRequest($0, limit: limits.pageRows) }
      for case .push(let push) in asked.steps {
        // A page takes no other row once it has as much as it may; so the last one does not count.
        let size = push.rows.dropLast().reduce(0) { $0 + $1.size }
        guard size < limits.pageBytes + 1 else { throw tooLarge(limits.pageBytes) }
      }
      let answer = try await database.onAccount(member.account) { tables in
        try HubRules.answer(asked, tables, at: now, within: limits.account)
      }
      if member.replica != asked.device {
        try await accounts(at: now) { try $0.note(asked.device, of: member) }
      }
      return Response(
        status: .ok, headers: [.contentType: "application/jsonl", .cacheControl: "no-store"],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: try answer.text())))
    }
  }

  extension String {
    var json: JSON { .string(self) }
  }
#endif
