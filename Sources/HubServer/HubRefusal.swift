// SPDX-License-Identifier: Apache-2.0

package import KeepsakeValues

/// The reason why a hub refuses a request, as a problem of RFC 9457. Nothing has changed then.
package struct HubRefusal: Error, Equatable {
  /// The HTTP status.
  package let status: Int
  /// The end of `type`, which never changes.
  package let name: String
  package let detail: String
  /// The name of the limit that was exceeded, and its value.
  package let limit: String?
  private let value: Int?
  /// The line of the request that exceeds it.
  private let line: Int?
  /// Seconds after which to retry.
  package let retryAfter: Int?
  /// Whether the connection closes: the rest of the request cannot be read, or need not be.
  package private(set) var closes: Bool

  package init(
    _ status: Int, _ name: String, _ detail: String, limit: String? = nil, _ value: Int? = nil,
    line: Int? = nil, retryAfter: Int? = nil
  ) {
    (self.status, self.name, self.detail) = (status, name, detail)
    (self.limit, self.value, self.line) = (limit, value, line)
    self.retryAfter = retryAfter
    closes = ["bodyBytes", "objectBytes", "headBytes"].contains(limit)
  }

  package var json: JSON {
    .object([
      "type": .string("urn:keepsake:hub:\(name)"), "status": .integer(Int64(status)),
      "detail": .string(detail), "limit": limit.map { .string($0) },
      "value": value.map { .integer(Int64($0)) }, "line": line.map { .integer(Int64($0)) },
    ])
  }

  // MARK: - The refusals

  package static func malformed(_ detail: String, closes: Bool = false) -> HubRefusal {
    var refusal = HubRefusal(400, "malformed", detail)
    refusal.closes = closes
    return refusal
  }

  package static let token = HubRefusal(401, "token", "the hub does not know this token")

  package static let code = HubRefusal(
    403, "code", "the code is wrong, was used, or has ended")

  package static func path(_ detail: String) -> HubRefusal { HubRefusal(404, "path", detail) }

  package static let taken = HubRefusal(
    409, "taken", "there is another account with this ID")

  /// - Parameter line: the line that is too large, if the limit is of lines.
  package static func tooLarge(limit: String, _ value: Int, line: Int? = nil) -> HubRefusal {
    let place = line.map { ", in line \($0)" } ?? ""
    return HubRefusal(
      413, "too-large", "it is larger than \(limit) allows\(place): \(value)", limit: limit, value,
      line: line)
  }

  package static func tooMany(
    limit: String, _ value: Int, _ detail: String, retryAfter: Int
  ) -> HubRefusal {
    HubRefusal(429, "too-many", detail, limit: limit, value, retryAfter: retryAfter)
  }

  package static func busy(limit: String, _ value: Int) -> HubRefusal {
    HubRefusal(503, "busy", "the hub has too much to do", limit: limit, value, retryAfter: 1)
  }

  /// The account has as much of something as a limit allows.
  package static func full(limit: String, _ value: Int) -> HubRefusal {
    HubRefusal(
      507, "full", "the account has as much as \(limit) allows: \(value)", limit: limit, value)
  }
}
