// SPDX-License-Identifier: Apache-2.0

#if Hub
  import HTTPTypes
  import Hummingbird
  import KeepsakeHubServer
  import KeepsakeValues
  import NIOCore

  /// Why a request is refused: `application/problem+json` (RFC 9457).
  struct Problem: Error {
    let status: HTTPResponse.Status
    /// The end of `type`, which never changes.
    let name: String
    let detail: String
    let cure: String
    /// More members of the answer.
    var details: [JSON.Member] = []
    /// Seconds after which to ask again.
    var retryAfter: Int?
    /// Whether the rest of the request is not worth reading.
    var closes = false

    init(_ status: HTTPResponse.Status, _ name: String, _ detail: String, cure: String) {
      (self.status, self.name, self.detail, self.cure) = (status, name, detail, cure)
    }

    private func with(_ limit: String, _ value: Int) -> Problem {
      var problem = self
      problem.details += [
        JSON.Member("limit", .string(limit)), JSON.Member("value", .integer(Int64(value))),
      ]
      return problem
    }

    static func malformed(_ detail: String) -> Problem {
      Problem(
        .badRequest, "malformed", detail, cure: "see the page of the protocol, or update the device"
      )
    }

    static func path(_ detail: String) -> Problem {
      Problem(.notFound, "path", detail, cure: "check the address, and see GET /v1")
    }

    static func tooLarge(_ limit: String, _ value: Int, line: Int? = nil) -> Problem {
      let place = line.map { ", in line \($0)" } ?? ""
      var problem = Problem(
        .contentTooLarge, "too-large", "it is larger than \(limit) allows\(place): \(value)",
        cure: line == nil ? "send less at a time" : "shorten the value, or remove it"
      ).with(limit, value)
      if let line { problem.details.append(JSON.Member("line", .integer(Int64(line)))) }
      problem.closes = ["bodyBytes", "objectBytes", "headBytes"].contains(limit)
      return problem
    }

    static func tooMany(
      _ limit: String, _ value: Int, _ detail: String, retryAfter: Int
    ) -> Problem {
      var problem = Problem(
        .tooManyRequests, "too-many", detail, cure: "wait as Retry-After says"
      ).with(limit, value)
      problem.retryAfter = retryAfter
      return problem
    }

    static func busy(_ limit: String, _ value: Int) -> Problem {
      var problem = Problem(
        .serviceUnavailable, "busy", "the hub has too much to do", cure: "wait as Retry-After says"
      ).with(limit, value)
      problem.retryAfter = 1
      return problem
    }

    /// What follows such a body is no request.
    static func cutOff(_ text: String) -> Problem {
      var problem = malformed(text)
      problem.closes = true
      return problem
    }

    var fields: HTTPFields {
      var fields: HTTPFields = [
        .contentType: "application/problem+json", .cacheControl: "no-store",
      ]
      if let retryAfter { fields[.retryAfter] = String(retryAfter) }
      if status == .unauthorized { fields[.wwwAuthenticate] = "Bearer" }
      if closes { fields[.connection] = "close" }
      return fields
    }

    var json: JSON {
      .object(
        [
          JSON.Member("type", .string("urn:keepsake:hub:\(name)")),
          JSON.Member("status", .integer(Int64(status.code))),
          JSON.Member("detail", .string(detail)), JSON.Member("cure", .string(cure)),
        ] + details)
    }

    var response: Response {
      Response(status: status, headers: fields, body: ResponseBody(byteBuffer: .line(json)))
    }
  }

  extension Problem {
    init(_ error: any Error) {
      switch error {
      case let error as Problem: self = error
      case let error as HubRefusal: self = Self.of(error)
      case let error as any HTTPResponseError where error.status == .notFound:
        self = .path("there is no such path, or it has no such method")
      case let error as any HTTPResponseError:
        self = Problem(error.status, "malformed", "the request cannot be read", cure: "see HTTP")
      // The error names paths and hosts of the hub, which are for its log alone.
      case HubStoreError.unavailable:
        self.init(
          .serviceUnavailable, "unavailable", "the hub's database does not answer now",
          cure: "try again later")
        retryAfter = 5
      default:
        self.init(
          .serviceUnavailable, "unavailable", "the hub's database fails",
          cure: "ask the operator of the hub to look at its log")
        retryAfter = 60
      }
    }

    private static func of(_ refusal: HubRefusal) -> Problem {
      switch refusal {
      case .malformed(let detail): return malformed(detail)
      case .token:
        return Problem(
          .unauthorized, "token", "the hub does not know this token",
          cure: "join the account again by an invitation")
      case .revoked(let date, let device):
        var problem = Problem(
          .forbidden, "revoked", "device \(device) has revoked this one",
          cure: "join the account again by an invitation")
        problem.details = [
          JSON.Member("date", .integer(date)), JSON.Member("by", .integer(device)),
        ]
        return problem
      case .code:
        return Problem(
          .forbidden, "code", "the code is wrong, was used, or has ended",
          cure: "ask for a new invitation")
      case .noDevice(let number): return path("the account has no device \(number)")
      case .taken:
        return Problem(
          .conflict, "taken", "there is another account with this ID", cure: "choose another one")
      case .reserved:
        var problem = Problem(
          .conflict, "reserved", "the account is kept for a device that was refused before",
          cure: "wait as Retry-After says")
        problem.retryAfter = 1
        return problem
      case .tooLarge(let limit, let value, let line):
        return tooLarge(limit, value, line: line)
      case .full(let limit, let value):
        return Problem(
          HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage"), "full",
          "the account has as much as \(limit) allows: \(value)",
          cure: "remove what is not needed, or ask the operator of the hub"
        ).with(limit, value)
      }
    }
  }

  extension ByteBuffer {
    /// JSON with a line break.
    static func line(_ json: JSON) -> ByteBuffer {
      ByteBuffer(string: json.text() + "\n")
    }
  }
#endif
