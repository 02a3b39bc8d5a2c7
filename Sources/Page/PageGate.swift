// SPDX-License-Identifier: Apache-2.0
//
// Access to the page. The address that is printed has a token, which one browser exchanges, once,
// for a cookie of that browser's session; nothing is answered without one of them. If a second
// browser sends the token, another person may have read it, so the session ends.
// Requests of other pages in the same browser are refused, too:
// - DNS rebinding, a foreign name that resolves to this machine: by the header Host;
// - requests to this server that carry the cookie: SameSite, Sec-Fetch-Site, and Origin of writes.

#if Page
  import Foundation
  import HTTPTypes
  import Hummingbird
  import KeepsakeValues
  import Synchronization

  package final class PageGate: Sendable {
    private struct SessionState {
      var port = 0
      var isTokenUsed = false
      var isOver = false
    }

    private let token = Secrets.random()
    private let session = Secrets.random()
    /// Held for a few instructions; nothing is called under it.
    private let state = Mutex(SessionState())
    /// Called when a second browser sends the token.
    private let onSecondUse: @Sendable () -> Void

    init(onSecondUse: @escaping @Sendable () -> Void) { self.onSecondUse = onSecondUse }

    /// - Returns: the address that opens the page.
    func open(at port: Int) -> String {
      state.withLock { $0.port = port }
      return "http://127.0.0.1:\(port)/?token=\(token)"
    }

    /// The name contains the port: cookies of one host are sent to all of its ports.
    var cookie: String { "keepsake-\(state.withLock(\.port))" }

    enum Admission {
      /// The token was valid: the session has begun, with this cookie.
      case first(cookie: String)
      case known
    }

    /// - Throws: `PageProblem`.
    func admit(_ request: Request) throws -> Admission {
      let port = state.withLock(\.port)
      let host = request.head.authority ?? ""
      guard Self.names(port).contains(host) else {
        throw PageProblem(
          .forbidden, "this page has another name", cure: "use the address as printed")
      }
      let isKnown =
        !state.withLock(\.isOver) && cookieValue(request).map { Self.areEqual($0, session) } == true
      if let token = request.uri.queryParameters["token"], request.uri.path == "/" {
        return .first(cookie: try begin(String(token), isKnown: isKnown))
      }
      guard isKnown else {
        throw PageProblem(
          .forbidden, "this browser has not opened the page",
          cure: "run kvsync open, and use the address that it prints")
      }
      try refuseOtherPages(request, host)
      return .known
    }

    /// The names of this machine in a browser, which leaves port 80 out.
    package static func names(_ port: Int) -> [String] {
      let names = ["127.0.0.1", "localhost"]
      return names.map { "\($0):\(port)" } + (port == 80 ? names : [])
    }

    /// - Parameter isKnown: whether the browser has the session's cookie.
    private func begin(_ given: String, isKnown: Bool) throws -> String {
      guard Self.areEqual(given, token) else {
        throw PageProblem(
          .forbidden, "the token of this address is wrong",
          cure: "run kvsync open, and use the address that it prints")
      }
      let (isFirst, wasOver) = state.withLock { state in
        defer {
          state.isOver = state.isOver || state.isTokenUsed && !isKnown
          state.isTokenUsed = true
        }
        return (!state.isTokenUsed, state.isOver)
      }
      guard isFirst || isKnown else {
        if !wasOver { onSecondUse() }
        throw PageProblem(
          .forbidden, "the token of this address was used before, so the session is over",
          cure: "run kvsync open again; if it was not you, see who else can read its output")
      }
      return "\(cookie)=\(session); Path=/; HttpOnly; SameSite=Strict"
    }

    private func cookieValue(_ request: Request) -> String? {
      let pairs = (request.headers[.cookie] ?? "").split(separator: ";")
      let name = cookie + "="
      return pairs.map { $0.drop { $0 == " " } }.first { $0.hasPrefix(name) }
        .map { String($0.dropFirst(name.count)) }
    }

    private func refuseOtherPages(_ request: Request, _ host: String) throws {
      let site = HTTPField.Name("Sec-Fetch-Site").flatMap { request.headers[$0] }
      let origin = request.headers[.origin]
      let isOurs = origin == "http://\(host)"
      let isRead = request.method == .get
      guard isRead ? origin == nil || isOurs : isOurs,
        site == nil || site == "same-origin" || (isRead && site == "none")
      else {
        throw PageProblem(
          .forbidden, "the request comes from another page", cure: "use the page itself")
      }
    }

    /// Compares in a time that does not depend on where the texts differ.
    private static func areEqual(_ a: String, _ b: String) -> Bool {
      let (a, b) = (Array(a.utf8), Array(b.utf8))
      guard a.count == b.count else { return false }
      return zip(a, b).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
  }
#endif
