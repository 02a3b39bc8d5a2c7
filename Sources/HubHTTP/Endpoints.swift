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
    let metrics: HubMetrics
    let listeners: Listeners
    private let rate: RateLimit
    private let readiness = Readiness()

    init(
      _ database: any HubDatabase, _ settings: HubServer.Settings, _ metrics: HubMetrics
    ) {
      (self.database, self.settings, self.metrics) = (database, settings, metrics)
      listeners = Listeners { metrics.listens($0) }
      rate = RateLimit(
        perMinute: settings.limits.requestsPerMinute, burst: settings.limits.burst)
      database.observe { [listeners] account, seq in listeners.tell(account, seq) }
    }

    func respond(to request: Request, on channel: any Channel) async -> Response {
      let start = ContinuousClock.now
      var (route, member) = (Route?.none, HubMember?.none)
      var response: Response
      do {
        let path = request.uri.path.split(separator: "/")
        let found = try Route.find(request.method, path)
        route = found
        if let answer = try await answer(found, request) {
          response = answer
        } else {
          let asking = try await authenticate(request)
          member = asking
          response = try await answer(found, request, path, asking, channel)
        }
      } catch {
        log(error)
        response = Problem(error).response
      }
      let duration = ContinuousClock.now - start
      metrics.answered(route, Int(response.status.code), in: duration)
      settings.logger.debug(
        "request",
        metadata: [
          "request": "\(route?.rawValue ?? "other")", "status": "\(response.status.code)",
          "account": "\(member.map { "\($0.account)" } ?? "none")",
          "device": "\(member.map { "\($0.number)" } ?? "none")",
          "seconds": "\(duration / .seconds(1))",
        ])
      return response
    }

    /// Tells the operator what the device is not told: paths and hosts are in it.
    private func log(_ error: any Error) {
      switch error {
      case HubDatabaseError.broken(let problem), HubDatabaseError.unavailable(let problem):
        settings.logger.error("the database fails", metadata: ["problem": "\(problem)"])
      case HubDatabaseError.noAccount, is Problem, is MessageError, is HubRefusal, is HubFault,
        is HubAccounts.Refusal:
        break
      default:
        // Of an unexpected error only the type is logged: its text may have values.
        settings.logger.error("a request fails", metadata: ["error": "\(type(of: error))"])
      }
    }

    /// What is answered without a device's token; nil for the rest.
    private func answer(_ route: Route, _ request: Request) async throws -> Response? {
      switch route {
      case .health: return text("ok\n")
      case .ready:
        // A look-up by the index, for a token that no device has: cheap in a database of any size.
        _ = try await directory { try $0.member(withToken: []) }
        try readiness.check(at: settings.now())
        return text("ok\n")
      case .greeting: return json(greeting)
      case .create: return try await create(request)
      case .join: return try await join(request)
      default: return nil
      }
    }

    private func answer(
      _ route: Route, _ request: Request, _ path: [Substring], _ member: HubMember,
      _ channel: any Channel
    ) async throws -> Response {
      switch route {
      case .sync: return try await sync(request, member)
      case .events: return try await events(request, member, channel)
      case .invite: return try await invite(member)
      case .list: return try await list(member)
      case .revoke: return try await revoke(path[2], member)
      case .retire: return try await retire(path[2], member)
      case .export: return try await export(member)
      case .delete: return try await delete(request, member)
      default: throw Problem.path("there is no such path")
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

    func token(_ request: Request) throws -> String {
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
      return try await directory { try work(HubAccounts($0, at: now, devices: devices)) }
    }

    private func directory<Result: Sendable>(
      _ work: @escaping @Sendable (any HubDirectory) throws -> Result
    ) async throws -> Result {
      try await metrics.timed(.directory) { try await database.onDirectory(work) }
    }

    func account<Result: Sendable>(
      _ number: Int64, _ work: @escaping @Sendable (any HubTables) throws -> Result
    ) async throws -> Result {
      try await metrics.timed(.account) { try await database.onAccount(number, work) }
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

    // MARK: - Rows

    private func sync(_ request: Request, _ member: HubMember) async throws -> Response {
      let limits = settings.limits
      let bytes = try await body(of: request, "application/jsonl", most: limits.bodyBytes)
      guard bytes.count(where: { $0 == UInt8(ascii: "\n") }) <= limits.pageRows + 1 else {
        throw Problem.tooLarge(limits.pageRows)
      }
      let asked = try bytes.withUnsafeBufferPointer { try HubRequest($0, limit: limits.pageRows) }
      for case .push(let push) in asked.steps {
        // A page takes no other row once it has as much as it may; so the last one does not count.
        let size = push.rows.dropLast().reduce(0) { $0 + $1.size }
        guard size < limits.pageBytes + 1 else { throw Problem.tooLarge(limits.pageBytes) }
      }
      let now = settings.now()
      // The body may have come slowly, and its device may have been revoked meanwhile.
      try await accounts(at: now) { try $0.note(asked.device, of: member) }
      let answer: HubAnswer
      do {
        answer = try await account(member.account) { tables in
          try HubRules.answer(asked, tables, at: now, within: limits.account)
        }
      } catch let error as HubDatabaseError where error != .noAccount {
        readiness.fail(at: now)
        throw error
      }
      metrics.count(answer)
      if answer.pushed != nil { readiness.succeed() }
      return Response(
        status: .ok, headers: [.contentType: "application/jsonl", .cacheControl: "no-store"],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: try answer.text())))
    }
  }

  extension String {
    var json: JSON { .string(self) }
  }
#endif
