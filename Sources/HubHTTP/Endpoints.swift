// SPDX-License-Identifier: Apache-2.0

#if Hub
  import HTTPTypes
  import Hummingbird
  import KeepsakeHubServer
  import KeepsakeValues
  import NIOCore

  /// The hub's endpoints.
  struct Endpoints: Sendable {
    let store: any HubStore
    let settings: HubServer.Settings
    let metrics: HubMetrics
    let listeners: Listeners
    let inFlight: InFlight
    private let rates: RequestRates
    private let readiness = Readiness()

    init(_ store: any HubStore, _ settings: HubServer.Settings, _ metrics: HubMetrics) {
      (self.store, self.settings, self.metrics) = (store, settings, metrics)
      listeners = Listeners { metrics.listens($0) }
      inFlight = InFlight(settings.limits)
      rates = RequestRates(settings.limits)
      store.observe(watched: { [listeners] in listeners.accounts }) { [listeners] in
        listeners.announce($0, $1)
      }
    }

    var router: Router<HubContext> {
      let router = Router(context: HubContext.self)
      router.add(middleware: AnswerMiddleware(settings: settings, metrics: metrics))
      router.get("health") { _, _ in text("ok\n") }
      router.get("ready") { _, _ in try await ready() }
      router.get("v1") { _, _ in json(greeting) }
      let account = router.group("v1/accounts/{account}")
      account.put(use: create)
      account.delete(use: delete)
      account.post("invitations", use: invite)
      account.post("devices", use: join)
      account.get("devices", use: list)
      account.patch("devices/{device}", use: rename)
      account.delete("devices/{device}", use: revoke)
      account.get("rows", use: read)
      account.post("rows", use: push)
      account.post("forget", use: forget)
      account.get("events", use: events)
      account.get("export", use: export)
      return router
    }

    private func ready() async throws -> Response {
      // A look-up of an account that cannot be: cheap in a store of any size.
      _ = try await run(HubWork(HubQuery(0, isWriting: false)) { _ in (true, nil) })
      try readiness.check(at: settings.now())
      return text("ok\n")
    }

    private var greeting: JSON {
      .object([
        "protocol": .integer(1), "version": .string("0.1.0"), "time": .integer(settings.now()),
        "limits": settings.limits.json,
      ])
    }

    // MARK: - Work

    var log: LogRules { LogRules(settings.limits.account, at: settings.now()) }
    var accounts: AccountRules { AccountRules(settings.limits.account, at: settings.now()) }

    func run<Result: Sendable>(_ work: HubWork<Result>) async throws -> Result {
      do {
        let result = try await metrics.timed(work.query.isWriting) { try await store.run(work) }
        if work.query.isWriting { readiness.succeed() }
        return result
      } catch let error as HubStoreError {
        // A locked account says nothing of the others.
        if case .locked = error { throw error }
        readiness.fail(at: settings.now())
        throw error
      }
    }

    /// The hash of the request's token, if its device does not ask too often.
    func token(_ request: Request, _ account: Int64) throws -> Token {
      let words = (request.headers[.authorization] ?? "").split(separator: " ")
      guard words.count == 2, words[0].lowercased() == "bearer", words[1].utf8.count <= 256 else {
        try rates.checkUnknown(at: settings.now())
        throw HubRefusal.token
      }
      let token = Token(String(words[1]), account)
      try rates.check(token, at: settings.now())
      return token
    }

    /// Runs work of a device. What its token is worth is remembered.
    func run<Result: Sendable>(_ token: Token, _ work: HubWork<Result>) async throws -> Result {
      do {
        let result = try await run(work)
        rates.know(token)
        return result
      } catch let refusal as HubRefusal {
        switch refusal {
        case .token, .revoked: rates.forget(token)
        default: break
        }
        throw refusal
      }
    }

    /// Checks the rate of requests that need no token.
    func checkUnknown() throws { try rates.checkUnknown(at: settings.now()) }

    // MARK: - Answers

    func text(_ text: String) -> Response {
      Response(
        status: .ok, headers: [.contentType: "text/plain; charset=utf-8"],
        body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    func json(
      _ json: JSON, _ status: HTTPResponse.Status = .ok, _ more: HTTPFields = HTTPFields()
    ) -> Response {
      var fields = more
      (fields[.contentType], fields[.cacheControl]) = ("application/json", "no-store")
      return Response(status: status, headers: fields, body: ResponseBody(byteBuffer: .line(json)))
    }
  }

  /// The hash of a token, with its account.
  struct Token: Sendable, Hashable {
    let account: Int64
    let hash: [UInt8]

    init(_ text: String, _ account: Int64) {
      (self.account, hash) = (account, SHA256.hash("\(account) \(text)"))
    }

    static func == (left: Token, right: Token) -> Bool { left.hash == right.hash }

    /// The hash is random already.
    func hash(into hasher: inout Hasher) {
      hasher.combine(hash[0..<8].reduce(0) { $0 << 8 | UInt64($1) })
    }
  }
#endif
