// SPDX-License-Identifier: Apache-2.0

public import KeepsakeDevice
import KeepsakeValues

/// Why a hub refuses a request: the cause of errors about hubs.
struct HubProblem: Error, Equatable {
  /// The longest pause that is believed.
  private static let longestPause = 300

  /// The end of `type`; nil for the answer of something else.
  var name: String?
  var detail = ""
  /// The limit that was exceeded.
  var limit: String?
  /// The row that exceeds it, from 0.
  var row: Int?
  /// Seconds after which the hub wants to be asked again.
  var retryAfter: Int?
  /// Whether the hub has done nothing, and may do it soon.
  var isBusy = false

  /// Whether a limit was exceeded by what a device says of itself, not by rows.
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
  /// - Returns: nil for what is no JSON.
  static func read(_ bytes: some Collection<UInt8>) -> JSON? {
    guard let text = String(validating: bytes, as: UTF8.self),
      case .success(let json) = Result(catching: { try JSON(parsing: text) })
    else { return nil }
    return json
  }
}

extension KeepsakeError {
  /// How long a hub that is busy or out of service asks to be left alone, if it says so; five
  /// minutes at most.
  public var retryAfter: Duration? {
    (rootCause as? HubProblem)?.retryAfter.map { .seconds($0) }
  }
}
