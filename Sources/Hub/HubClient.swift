// SPDX-License-Identifier: Apache-2.0
//
// Sends a request, and reads its answer, which is validated, and bounded in time and size.

import Foundation
import KeepsakeDevice
import KeepsakeValues

struct HubRequest {
  var method: String
  /// Below `/v1`.
  var path: String
  var body: [UInt8]?
  var bodyType = HubClient.ContentType.json
  var answerType = HubClient.ContentType.json
  var headers: [String: String] = [:]
  /// Statuses other than 2xx that count as answers.
  var accepted: Set<Int> = []
  /// The maximum time without data from the hub. A body adds a second for each KiB, as on the hub:
  /// a proxy may buffer the body, so its progress is unknown.
  var timeout: Duration
  /// The deadline of the answer, even if a part of it has arrived.
  var end: ContinuousClock.Instant?
  /// Receives the exchange, which can be cancelled.
  var onBegin: (any TransportExchange) -> Void = { _ in }

  init(_ method: String, _ path: String, _ body: [UInt8]? = nil) {
    (self.method, self.path, self.body) = (method, path, body)
    timeout = HubClient.timeout + HubClient.time(for: body?.count ?? 0)
  }
}

struct HubResponse {
  let status: Int
  /// By lowercase names.
  let headers: [String: String]
  var body: [UInt8] = []
  /// The hub's clock, in milliseconds since 1970; nil if it is out of range.
  var clock: Int64? {
    headers["hub-clock"].flatMap { Int64($0) }
      .flatMap { 0...HybridTimestamp.maximumMilliseconds ~= $0 ? $0 : nil }
  }
}

struct HubClient: Sendable {
  let url: HubURL
  /// Nil for requests without a token.
  let token: String?
  let transport: any HubTransport
  /// The monotonic clock.
  var now: @Sendable () -> ContinuousClock.Instant = { .now }
  /// Blocks the thread.
  var pause: @Sendable (Duration) -> Void = { Thread.sleep(forTimeInterval: $0 / .seconds(1)) }

  /// The maximum time without data, beyond the time for the body.
  static let timeout = Duration.seconds(30)
  /// The maximum time for an answer, beyond the time for its bytes. Event streams have no maximum.
  static let deadline = Duration.seconds(600)

  /// The time for bytes on the slowest path: a second for each KiB.
  static func time(for bytes: Int) -> Duration { .seconds(bytes) / 1_024 }

  /// The longest answer, in bytes.
  static let limit = 16 << 20

  enum ContentType: String {
    case json = "application/json"
    case lines = "application/jsonl"
    case events = "text/event-stream"
    case problem = "application/problem+json"
  }

  /// Sends a request, and reads the whole answer.
  func send(_ request: HubRequest) throws(KeepsakeError) -> HubResponse {
    var bytes: [UInt8] = []
    var response = try read(request) { piece throws(KeepsakeError) in
      guard bytes.count + piece.count <= Self.limit else {
        throw HubFailure.malformed(url, "is longer than 16 MiB")
      }
      bytes += piece
    }
    response.body = bytes
    return response
  }

  /// Sends a request, and passes the answer's body on, piece by piece.
  @discardableResult
  func read(
    _ request: HubRequest, _ take: ([UInt8]) throws(KeepsakeError) -> Void
  ) throws(KeepsakeError) -> HubResponse {
    let exchange = transport.begin(try transportRequest(request))
    request.onBegin(exchange)
    var end = request.answerType == .events ? nil : now() + request.timeout + Self.deadline
    do throws(KeepsakeError) {
      guard case .head(let status, let headers) = try next(exchange, request, end) else {
        throw HubFailure.malformed(url, "has no beginning")
      }
      guard isExpected(status, headers, request) else {
        throw try failure(status, headers, exchange, request, end)
      }
      reading: while true {
        switch try next(exchange, request, end) {
        case .body(let piece):
          end? += Self.time(for: piece.count)
          try take(piece)
        case .end: break reading
        case .head: throw HubFailure.malformed(url, "begins twice")
        }
      }
      return HubResponse(status: status, headers: headers)
    } catch {
      exchange.cancel()
      throw error
    }
  }

  private func isExpected(
    _ status: Int, _ headers: [String: String], _ request: HubRequest
  ) -> Bool {
    if status == 204 { return request.method != "GET" }
    if status == 304 { return request.accepted.contains(304) }
    let expected = request.accepted.contains(status) ? ContentType.lines : request.answerType
    return (request.accepted.contains(status) || 200...299 ~= status)
      && Self.contentType(headers) == expected.rawValue
  }

  private func transportRequest(
    _ request: HubRequest
  ) throws(KeepsakeError) -> TransportRequest {
    var headers = request.headers
    headers["Accept"] = "\(request.answerType.rawValue), \(ContentType.problem.rawValue)"
    headers["User-Agent"] = "keepsake"
    // Foundation for Linux would send it, and wait a second for the answer.
    headers["Expect"] = ""
    if let token { headers["Authorization"] = "Bearer \(token)" }
    if request.body != nil { headers["Content-Type"] = request.bodyType.rawValue }
    return TransportRequest(
      method: request.method, url: try url.endpoint(request.path), headers: headers,
      body: request.body)
  }

  private func next(
    _ exchange: any TransportExchange, _ request: HubRequest, _ end: ContinuousClock.Instant?
  ) throws(KeepsakeError) -> TransportEvent {
    let left = [end, request.end].compactMap(\.self).min().map { now().duration(to: $0) }
    let timeout = min(request.timeout, left ?? request.timeout)
    guard timeout > .zero else { throw HubFailure.slow(url) }
    do throws(TransportFault) {
      return try exchange.next(within: timeout)
    } catch {
      throw HubFailure.unreachable(url, error, timeout)
    }
  }

  /// The error for an answer with an unexpected status.
  private func failure(
    _ status: Int, _ headers: [String: String], _ exchange: any TransportExchange,
    _ request: HubRequest, _ end: ContinuousClock.Instant?
  ) throws(KeepsakeError) -> KeepsakeError {
    if 300...399 ~= status { return HubFailure.redirect(url, to: headers["location"]) }
    var bytes: [UInt8] = []
    if Self.contentType(headers) == ContentType.problem.rawValue {
      while bytes.count < 1 << 16, case .body(let piece) = try next(exchange, request, end) {
        bytes += piece
      }
    }
    return HubFailure.answer(url, status, headers, HubProblem(status, headers, bytes))
  }

  private static func contentType(_ headers: [String: String]) -> String? {
    headers["content-type"]?.split(separator: ";").first.map {
      $0.trimmingCharacters(in: .whitespaces).lowercased()
    }
  }
}
