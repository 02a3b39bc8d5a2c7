// SPDX-License-Identifier: Apache-2.0

public import KeepsakeDevice
import KeepsakeValues

/// Why a hub refuses a request: the cause of errors about hubs.
struct HubProblem: Error, Equatable {
  /// The longest pause that is accepted, in seconds.
  private static let longestPause = 300

  /// The end of `type`; nil if the answer is not a hub's.
  var name: String?
  var detail = ""
  /// The limit that was exceeded.
  var limit: String?
  /// The row that exceeds it, from 0.
  var row: Int?
  /// Seconds after which to retry.
  var retryAfter: Int?
  /// Whether the hub has changed nothing, and a retry may succeed soon.
  var isBusy = false

  /// Whether a limit was exceeded by the data about the device, not by rows.
  var isOfSender: Bool {
    ["vectorBytes", "markBytes", "replicaBytes", "headBytes"].contains(limit)
  }

  /// - Parameter bytes: JSON, if there are any.
  init(_ status: Int, _ headers: [String: String], _ bytes: [UInt8]) {
    isBusy = status == 429
    let pause = headers["retry-after"].flatMap { Int($0) }
    retryAfter = pause.map { min(max($0, 0), Self.longestPause) }
    let prefix = "urn:keepsake:hub:"
    guard let json = JSON.read(bytes), case .string(let type)? = json["type"],
      type.hasPrefix(prefix)
    else { return }
    name = String(type.dropFirst(prefix.count))
    isBusy = isBusy || name == "busy"
    if case .string(let text)? = json["detail"] { detail = HubFailure.clean(text) }
    if case .string(let text)? = json["limit"] { limit = text }
    // Line 1 is the head.
    if case .integer(let line)? = json["line"], (2...10_000).contains(line) { row = Int(line) - 2 }
  }
}

extension JSON {
  /// - Returns: nil if the bytes are not JSON.
  static func read(_ bytes: some Collection<UInt8>) -> JSON? {
    guard let text = String(validating: bytes, as: UTF8.self),
      case .success(let json) = Result(catching: { try JSON(parsing: text) })
    else { return nil }
    return json
  }
}

extension KeepsakeError {
  /// The pause that a busy or unavailable hub has asked for, if any; five minutes at most.
  public var retryAfter: Duration? {
    (rootCause as? HubProblem)?.retryAfter.map { .seconds($0) }
  }
}
