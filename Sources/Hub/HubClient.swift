// SPDX-License-Identifier: Apache-2.0
//
// One request and its answer: bounded in time and size, believed only where it is what the protocol
// lets a hub say.

import Foundation
import KeepsakeDevice
import KeepsakeValues

struct HubClient: Sendable {
  let url: HubURL
  /// Nil for requests that have none.
  let token: String?
  let transport: any HubTransport
  /// The time that goes on.
  var now: @Sendable () -> ContinuousClock.Instant = { .now }
  /// Lets time pass.
  var pause: @Sendable (Duration) -> Void = { Thread.sleep(forTimeInterval: $0 / .seconds(1)) }

  /// How long nothing may move.
  static let patience = Duration.seconds(30)
  /// How long a request and its answer take at most, however slowly they move; events go on.
  static let deadline = Duration.seconds(600)
  /// Bytes that an answer has at most.
  static let limit = 16 << 20

  enum Kind: String {
    case json = "application/json"
    case lines = "application/jsonl"
    case events = "text/event-stream"
  }

  /// Asks, and reads the whole answer.
  func ask(
    _ method: String, _ path: String, _ body: [UInt8]? = nil, as type: Kind = .json,
    for kind: Kind = .json, patience: Duration = patience
  ) throws(KeepsakeError) -> [UInt8] {
    var bytes: [UInt8] = []
    try read(method, path, body, as: type, for: kind, patience: patience) {
      piece throws(KeepsakeError) in
      guard bytes.count + piece.count <= Self.limit else {
        throw HubFailure.malformed(url, "is longer than 16 MiB")
      }
      bytes += piece
    }
    return bytes
  }

  /// The same, piece by piece.
  ///
  /// - Parameter onBegin: gets the exchange, to cancel it.
  func read(
    _ method: String, _ path: String, _ body: [UInt8]? = nil, as type: Kind = .json,
    for kind: Kind, patience: Duration = patience,
    onBegin: (any TransportExchange) -> Void = { _ in },
    _ take: ([UInt8]) throws(KeepsakeError) -> Void
  ) throws(KeepsakeError) {
    let exchange = transport.begin(try request(method, path, body, type, kind))
    onBegin(exchange)
    let end = kind == .events ? nil : now() + Self.deadline
    do throws(KeepsakeError) {
      guard case .head(let status, let headers) = try next(exchange, patience, end) else {
        throw HubFailure.malformed(url, "has no beginning")
      }
      guard isRight(status, headers, method, kind) else {
        throw try failure(status, headers, exchange, end)
      }
      reading: while true {
        switch try next(exchange, patience, end) {
        case .body(let piece): try take(piece)
        case .end: break reading
        case .head: throw HubFailure.malformed(url, "begins twice")
        }
      }
    } catch {
      exchange.cancel()
      throw error
    }
  }

  /// Nothing comes back where nothing was asked for.
  private func isRight(
    _ status: Int, _ headers: [String: String], _ method: String, _ kind: Kind
  ) -> Bool {
    if status == 204 { return method != "GET" && kind == .json }
    return 200...299 ~= status && Self.type(headers) == kind.rawValue
  }

  private func request(
    _ method: String, _ path: String, _ body: [UInt8]?, _ type: Kind, _ kind: Kind
  ) throws(KeepsakeError) -> TransportRequest {
    var headers = [
      "Accept": "\(kind.rawValue), application/json", "User-Agent": "keepsake",
      // Foundation for Linux would wait a second for an answer to it.
      "Expect": "",
    ]
    if let token { headers["Authorization"] = "Bearer \(token)" }
    if body != nil { headers["Content-Type"] = type.rawValue }
    return TransportRequest(
      method: method, url: try url.endpoint(path), headers: headers, body: body)
  }

  private func next(
    _ exchange: any TransportExchange, _ patience: Duration, _ end: ContinuousClock.Instant?
  ) throws(KeepsakeError) -> TransportEvent {
    let left = end.map { now().duration(to: $0) } ?? patience
    guard left > .zero else { throw HubFailure.slow(url, Self.deadline) }
    do throws(TransportFault) {
      return try exchange.next(within: min(patience, left))
    } catch {
      throw HubFailure.unreachable(url, error, patience)
    }
  }

  /// What an answer other than the one that was asked for says.
  private func failure(
    _ status: Int, _ headers: [String: String], _ exchange: any TransportExchange,
    _ end: ContinuousClock.Instant?
  ) throws(KeepsakeError) -> KeepsakeError {
    if 300...399 ~= status { return HubFailure.redirect(url, headers["location"]) }
    var bytes: [UInt8] = []
    if Self.type(headers) == Kind.json.rawValue {
      while bytes.count < 1 << 16, case .body(let piece) = try next(exchange, Self.patience, end) {
        bytes += piece
      }
    }
    exchange.cancel()
    return HubFailure.answer(url, status, headers, bytes)
  }

  private static func type(_ headers: [String: String]) -> String? {
    headers["content-type"]?.split(separator: ";").first.map {
      $0.trimmingCharacters(in: .whitespaces).lowercased()
    }
  }
}
