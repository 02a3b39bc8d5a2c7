// SPDX-License-Identifier: Apache-2.0

#if Page
  import Foundation
  import FoundationNetworking
  import TestSupport
  import Testing

  /// Device files in a folder of their own, and the page that shows them.
  final class OpenPage {
    let folder: Folder
    /// With the token.
    private(set) var address = ""
    private var process: RunningCommand?

    init() throws { folder = try Folder() }

    deinit { _ = close(SIGKILL) }

    @discardableResult
    func kvsync(_ words: String...) throws -> String {
      let ending = try folder.run(words)
      try #require(ending.code == 0, "\(words) \(ending)")
      return ending.stdout
    }

    /// Writes a file for `kvsync import`.
    func lines(_ text: String) throws { try folder.write(text, to: "lines") }

    /// Makes the files `a` and `b`, in which `name` is "won", and "lost" is a conflict.
    ///
    /// - Returns: the file that logs the conflict.
    func makeConflict() throws -> String {
      try kvsync("set", "a", "name", "first")
      try kvsync("merge", "a", "b", "--create")
      try kvsync("set", "a", "name", "lost", "--at", "2026-11-20T10:00:00Z")
      try kvsync("set", "b", "name", "won")
      try kvsync("merge", "a", "b")
      return try kvsync("conflicts", "a").isEmpty ? "b" : "a"
    }

    /// - Parameter creating: a file that is made before, with a key of a store that does not sync.
    func open(_ words: String..., creating file: String? = nil) throws {
      if let file { try kvsync("set", file, "there", "yes", "--store", "defaults") }
      let process = try RunningCommand(folder, ["open", "--no-browser"] + words)
      self.process = process
      address = process.line()
    }

    /// - Returns: the exit code of the page after a signal.
    func close(_ signal: Int32 = SIGTERM) -> Int32? {
      defer { process = nil }
      return process?.end(signal).code
    }

    // MARK: - Requests without a browser

    /// It keeps no cookies: the shared one would send the page's in place of a request's own.
    private static let session: URLSession = {
      let configuration = URLSessionConfiguration.ephemeral
      configuration.httpCookieStorage = nil
      return URLSession(configuration: configuration)
    }()

    var base: String { String(address.prefix { $0 != "?" }.dropLast()) }

    func ask(
      _ method: String, _ path: String, _ headers: [String: String] = [:], _ body: String? = nil
    ) async throws -> (status: Int, text: String, fields: HTTPURLResponse) {
      var request = URLRequest(url: try #require(URL(string: base + path)))
      request.httpMethod = method
      request.httpBody = body.map { Data($0.utf8) }
      for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
      let (data, response) = try await Self.session.data(for: request)
      let http = try #require(response as? HTTPURLResponse)
      return (http.statusCode, String(decoding: data, as: UTF8.self), http)
    }

    /// - Returns: the session's cookie.
    func enter() async throws -> String {
      let answer = try await ask("GET", String(address.dropFirst(base.count)))
      #expect(answer.status == 200)
      let cookie = try #require(answer.fields.value(forHTTPHeaderField: "Set-Cookie"))
      #expect(cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Strict"))
      return String(cookie.prefix { $0 != ";" })
    }
  }

  /// A headless Chromium that has opened the page.
  final class Browser {
    static let isPossible = FileManager.default.isExecutableFile(atPath: "/usr/bin/chromium")
    static let need: Comment = "Chromium is not installed, so the page is not tried in a browser"

    private let process: RunningCommand

    init(_ page: OpenPage) throws {
      process = try RunningCommand(
        page.folder, [], program: Checkout.path("Scripts/browse"), hasInput: true)
      _ = try step("open", page.address)
      try until("document.querySelector('#rows .row .key') && $$('#live') == 'live'")
    }

    /// The result of a script, as JSON.
    @discardableResult
    func run(_ script: String) throws -> String { try step("run", Self.helpers + script) }

    /// Waits until an expression is true.
    func until(_ expression: String) throws {
      _ = try step("until", "(() => { \(Self.helpers) return \(expression); })()")
    }

    func click(_ selector: String) throws {
      try until("document.querySelector(\"\(selector)\")")
      try run("document.querySelector(\"\(selector)\").click();")
    }

    /// Types into an element, in place of what is there.
    func type(_ text: String, into selector: String) throws {
      try until("document.querySelector(\"\(selector)\")")
      try run("const e = document.querySelector(\"\(selector)\"); e.focus(); e.select?.();")
      _ = try step("type", text)
    }

    /// Sets a field without a key, as by a pointer.
    func choose(_ value: String, in selector: String) throws {
      try run(
        """
        const e = document.querySelector("\(selector)"); e.value = "\(value)";
        e.dispatchEvent(new Event("input")); e.dispatchEvent(new Event("change"));
        """)
    }

    func press(_ key: String) throws { _ = try step("press", key) }

    func text(of selector: String) throws -> String {
      try run("return $$(\"\(selector)\");")
    }

    deinit { _ = process.end(SIGKILL) }

    func close() throws { try process.finish() }

    /// The text of an element.
    private static let helpers = "const $$ = (s) => document.querySelector(s)?.innerText ?? ''; "

    private func step(_ name: String, _ value: String) throws -> String {
      let words = try JSONSerialization.data(withJSONObject: [name: value])
      try process.say(String(decoding: words, as: UTF8.self))
      let line = process.line()
      let answer = try #require(
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      try #require(answer["error"] == nil, "\(name) \(value): \(line)")
      return answer["value"] as? String ?? "\(answer["value"] ?? "")"
    }
  }
#endif
