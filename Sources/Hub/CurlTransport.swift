// SPDX-License-Identifier: Apache-2.0
//
// Sends requests with the libcurl that Foundation for Linux contains. Its URLSession keeps a
// processor busy while it waits for a new connection: it polls whether that is writable
// (MultiHandle.swift of https://github.com/swiftlang/swift-corelibs-foundation). Each request
// blocks a thread of its own.

#if os(Linux)
  import CCurl
  import Foundation
  // Links libcurl into the process.
  import FoundationNetworking
  import Synchronization

  typealias SystemTransport = CurlTransport

  final class CurlTransport: HubTransport {
    private let handles = Handles()

    init() {
      // Foundation has to initialise libcurl, with its first session, before this module does.
      URLSession(configuration: .ephemeral).invalidateAndCancel()
    }

    package func begin(_ request: TransportRequest) -> any TransportExchange {
      let exchange = QueuedExchange()
      guard keepsake_curl_is_available() else {
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

    /// Idle handles of libcurl, whose connections stay open for the next request.
    private final class Handles: Sendable {
      // Sendable: only the thread that has removed a handle from `idle` uses it.
      private struct Handle: @unchecked Sendable { let pointer: UnsafeMutableRawPointer }
      private let idle = Mutex<[Handle]>([])
      private static let most = 4

      /// - Parameter body: returns the reason of a failure, or an empty text.
      /// - Returns: the result of `body`; nil if there is no memory for a handle.
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
        // The connections of the other handles are as old, and may be dead too.
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

  /// Runs one request on its thread.
  private final class CurlRun {
    private let exchange: QueuedExchange
    private var status = 0
    private var headers: [String: String] = [:]
    private var hasHead = false

    init(_ exchange: QueuedExchange) { self.exchange = exchange }

    /// - Returns: the reason of a failure; empty if there was none.
    func perform(_ request: TransportRequest, by handle: UnsafeMutableRawPointer) -> String {
      let body = request.body ?? (request.method == "POST" ? [] : nil)
      // libcurl removes a header that has no value.
      var lines = request.headers.map { "\($0):" + ($1.isEmpty ? "" : " \($1)") }
      // libcurl would send the content type of a form.
      if body != nil, request.body == nil { lines.append("Content-Type:") }
      // The extra byte gives an empty body an address: NULL means that there is no body.
      let bytes = (body ?? []) + [0]
      var sent = keepsake_curl_request()
      // A proxy could read plain HTTP.
      sent.may_use_proxy = request.url.scheme != "http"
      sent.context = Unmanaged.passUnretained(self).toOpaque()
      sent.on_header_line = { CurlRun.take($0, $1 * $2, $3) { $0.takeLine($1) } }
      sent.on_body = {
        CurlRun.take($0, $1 * $2, $3) { $0.exchange.add(.success(.body(Array($1)))) }
      }
      sent.is_abandoned = { CurlRun.of($0)?.exchange.isAbandoned ?? true }
      return withTexts([request.url.absoluteString, request.method] + lines) { texts in
        (sent.url, sent.method, sent.headers) = (texts[0], texts[1], texts + 2)
        return bytes.withUnsafeBufferPointer { bytes in
          if body != nil {
            (sent.body, sent.body_count) = (UnsafeRawPointer(bytes.baseAddress), bytes.count - 1)
          }
          return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
            withExtendedLifetime(self) {
              keepsake_curl_run(handle, &sent, text.baseAddress).map { String(cString: $0) } ?? ""
            }
          }
        }
      }
    }

    /// - Parameter body: receives the texts, and NULL after the last one.
    private func withTexts<Value>(
      _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Value
    ) -> Value {
      let copies = texts.map { strdup($0) }
      defer { for copy in copies { free(copy) } }
      let pointers = copies.map { UnsafePointer($0) } + [nil]
      return pointers.withUnsafeBufferPointer { pointers in
        // Never nil: the array has NULL at least.
        body(pointers.baseAddress.unsafelyUnwrapped)
      }
    }

    // MARK: - The answer

    private static func of(_ context: UnsafeMutableRawPointer?) -> CurlRun? {
      context.map { Unmanaged<CurlRun>.fromOpaque($0).takeUnretainedValue() }
    }

    /// - Returns: the number of bytes; another number makes libcurl end the request.
    private static func take(
      _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?,
      _ take: (CurlRun, UnsafeRawBufferPointer) -> Void
    ) -> Int {
      guard let run = of(context) else { return count + 1 }
      take(run, UnsafeRawBufferPointer(start: bytes, count: count))
      return run.exchange.isAbandoned ? count + 1 : count
    }

    private func takeLine(_ bytes: UnsafeRawBufferPointer) {
      // Ignore trailers.
      guard !hasHead else { return }
      let line = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines)
      if line.hasPrefix("HTTP/") {
        // A head of `100 Continue` comes before the final one.
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
