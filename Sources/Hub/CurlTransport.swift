// SPDX-License-Identifier: Apache-2.0
//
// Requests by the libcurl of Foundation for Linux, whose URLSession keeps a processor busy while it
// waits on a new connection: it goes on asking whether that can be written to
// (https://github.com/swiftlang/swift-corelibs-foundation, MultiHandle.swift). Each request has a
// thread, which waits.

#if os(Linux)
  import CCurl
  import Foundation
  // Brings libcurl into the process.
  import FoundationNetworking
  import Synchronization

  typealias SystemTransport = CurlTransport

  final class CurlTransport: HubTransport {
    private let handles = Handles()

    init() {
      // Foundation initialises libcurl with its first session, before this module does so again.
      URLSession(configuration: .ephemeral).invalidateAndCancel()
    }

    package func begin(_ request: TransportRequest) -> any TransportExchange {
      let exchange = QueuedExchange()
      guard keepsake_curl_is_there() else {
        exchange.add(.failure(.failed("this program has no libcurl")))
        return exchange
      }
      let thread = Thread { [handles] in
        let run = CurlRun(exchange)
        let failure = handles.with { run.perform(request, by: $0) } ?? "no memory for a request"
        exchange.add(failure.isEmpty ? .success(.end) : .failure(.failed(failure)))
      }
      thread.name = "keepsake.hub.request"
      thread.start()
      return exchange
    }

    /// Handles that wait for the next request, with their connections.
    private final class Handles: Sendable {
      // Sendable: one thread uses a handle at a time, the one that has taken it out of `idle`.
      private struct Handle: @unchecked Sendable { let pointer: UnsafeMutableRawPointer }
      private let idle = Mutex<[Handle]>([])
      private static let most = 4

      /// - Parameter body: returns why it failed, or an empty text.
      /// - Returns: nil where there is no memory.
      func with(_ body: (UnsafeMutableRawPointer) -> String) -> String? {
        let kept = idle.withLock { $0.popLast()?.pointer }
        guard let pointer = kept ?? keepsake_curl_open() else { return nil }
        let failure = body(pointer)
        let isKept =
          failure.isEmpty
          && idle.withLock { idle in
            guard idle.count < Self.most else { return false }
            idle.append(Handle(pointer: pointer))
            return true
          }
        if !isKept { keepsake_curl_close(pointer) }
        // The connections of the others are as old, and may be as dead.
        if !failure.isEmpty { closeIdle() }
        return failure
      }

      private func closeIdle() {
        let handles = idle.withLock { idle in
          defer { idle = [] }
          return idle
        }
        for handle in handles { keepsake_curl_close(handle.pointer) }
      }

      deinit { closeIdle() }
    }
  }

  /// One request, on its thread.
  private final class CurlRun {
    private let exchange: QueuedExchange
    private var status = 0
    private var headers: [String: String] = [:]
    private var hasHead = false

    init(_ exchange: QueuedExchange) { self.exchange = exchange }

    /// - Returns: why it failed; empty where it has not.
    func perform(_ request: TransportRequest, by handle: UnsafeMutableRawPointer) -> String {
      let body = request.body ?? (request.method == "POST" ? [] : nil)
      // A name without a value is left out.
      var lines = request.headers.map { "\($0):" + ($1.isEmpty ? "" : " \($1)") }
      // libcurl would say that it is a form.
      if body != nil, request.body == nil { lines.append("Content-Type:") }
      // A body of no bytes has an address too: without one there would be none.
      let bytes = (body ?? []) + [0]
      var asked = keepsake_curl_request()
      // A proxy could read what http carries.
      asked.may_take_proxy = request.url.scheme != "http"
      asked.context = Unmanaged.passUnretained(self).toOpaque()
      asked.take_head = { CurlRun.take($0, $1 * $2, $3) { $0.takeLine($1) } }
      asked.take_body = {
        CurlRun.take($0, $1 * $2, $3) { $0.exchange.add(.success(.body(Array($1)))) }
      }
      asked.is_over = { CurlRun.of($0)?.exchange.isOver ?? true }
      return withTexts([request.url.absoluteString, request.method] + lines) { texts in
        (asked.url, asked.method, asked.headers) = (texts[0], texts[1], texts + 2)
        return bytes.withUnsafeBufferPointer { bytes in
          if body != nil {
            (asked.body, asked.body_count) = (UnsafeRawPointer(bytes.baseAddress), bytes.count - 1)
          }
          return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { words in
            withExtendedLifetime(self) {
              keepsake_curl_run(handle, &asked, words.baseAddress).map { String(cString: $0) } ?? ""
            }
          }
        }
      }
    }

    /// - Parameter body: gets the texts, and NULL after the last one.
    private func withTexts<Value>(
      _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Value
    ) -> Value {
      let copies = texts.map { strdup($0) }
      defer { for copy in copies { free(copy) } }
      let pointers = copies.map { UnsafePointer($0) } + [nil]
      return pointers.withUnsafeBufferPointer { pointers in
        // There is one at least.
        body(pointers.baseAddress.unsafelyUnwrapped)
      }
    }

    // MARK: - What comes back

    private static func of(_ context: UnsafeMutableRawPointer?) -> CurlRun? {
      context.map { Unmanaged<CurlRun>.fromOpaque($0).takeUnretainedValue() }
    }

    /// - Returns: the number of bytes, or another one to end the request.
    private static func take(
      _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?,
      _ take: (CurlRun, UnsafeRawBufferPointer) -> Void
    ) -> Int {
      guard let run = of(context) else { return count + 1 }
      take(run, UnsafeRawBufferPointer(start: bytes, count: count))
      return run.exchange.isOver ? count + 1 : count
    }

    private func takeLine(_ bytes: UnsafeRawBufferPointer) {
      // Not what follows a body.
      guard !hasHead else { return }
      let line = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines)
      if line.hasPrefix("HTTP/") {
        // Another one after 100, "Continue".
        status = line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        headers = [:]
      } else if line.isEmpty {
        guard status >= 200 else { return }
        hasHead = true
        exchange.add(.success(.head(status: status, headers: headers)))
      } else if let colon = line.firstIndex(of: ":") {
        let name = line[..<colon].lowercased()
        let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        headers[name] = headers[name].map { "\($0), \(value)" } ?? value
      }
    }
  }
#endif
