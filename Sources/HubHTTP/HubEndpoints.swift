// SPDX-License-Identifier: Apache-2.0

#if Hub
  import HTTPTypes
  import Hummingbird
  import KeepsakeHubServer
  import KeepsakeValues
  import NIOCore

  /// The HTTP endpoints of a hub.
  struct HubEndpoints: Sendable {
    let store: any HubStore
    let settings: HubServer.Settings
    let metrics: HubMetrics
    let listeners = EventListeners()
    let inFlight: BytesInFlight
    let rates: RequestRates

    init(_ store: any HubStore, _ settings: HubServer.Settings, _ metrics: HubMetrics) {
      (self.store, self.settings, self.metrics) = (store, settings, metrics)
      inFlight = BytesInFlight(settings.limits)
      rates = RequestRates(settings.limits)
      store.observe { [listeners] in listeners.announce($0, $1) }
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
      return router
    }

    private func ready() async throws -> Response {
      // Looks up an account that cannot exist, which is cheap in a store of any size.
      _ = try await run(HubWork(HubQuery(0, isWriting: false)) { _ in (true, nil) })
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
      try await metrics.timed(work.query.isWriting) { try await store.run(work) }
    }

    /// The hash of the request's token, if its device does not exceed its rate. A token is looked
    /// up before the request uses memory, but only every ten minutes: each piece of work checks it
    /// again.
    func token(_ request: Request, _ account: Int64) async throws -> AccountToken {
      let words = (request.headers[.authorization] ?? "").split(separator: " ")
      guard words.count == 2, words[0].lowercased() == "bearer", words[1].utf8.count <= 256 else {
        try rates.countUnknownRequest(at: settings.now())
        throw HubRefusal.token
      }
      let token = AccountToken(String(words[1]), account: account)
      guard try !rates.countRequest(of: token, at: settings.now()) else { return token }
      let found = try await run(accounts.authenticate(account, token: token.hash))
      rates.accept(token, at: settings.now())
      // The device does not wait for it.
      if found.isUseDue { store.run(accounts.noteUse(account, token: token.hash)) { _ in } }
      return token
    }

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
#endif
