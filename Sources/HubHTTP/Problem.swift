// SPDX-License-Identifier: Apache-2.0

#if Hub
  import HTTPTypes
  import Hummingbird
  import KeepsakeHub
  import KeepsakeHubServer
  import KeepsakeSync
  import KeepsakeValues

  /// Why a request is refused, as its answer says it.
  struct Problem: Error {
    let status: HTTPResponse.Status
    let code: String
    let problem: String
    let cure: String
    /// More members of the answer.
    var details: [JSON.Member] = []
    /// Seconds after which to come again.
    var retryAfter: Int?
    /// Whether what is left of the request is not worth reading.
    var closes = false
    /// The methods that the path has, where the one that was used is not among them.
    var allowed: String?

    init(
      _ status: HTTPResponse.Status, _ code: String, _ problem: String, cure: String
    ) {
      (self.status, self.code, self.problem, self.cure) = (status, code, problem, cure)
    }

    static func malformed(_ problem: String) -> Problem {
      Problem(
        .badRequest, "malformed", problem,
        cure: "see the page of the protocol, or update the device")
    }

    static func path(_ problem: String) -> Problem {
      Problem(.notFound, "path", problem, cure: "check the address, and see GET /v1")
    }

    /// - Parameter allowed: the methods that the path has.
    static func method(_ allowed: String) -> Problem {
      var problem = Problem(
        .methodNotAllowed, "path", "the path has no such method", cure: "use \(allowed)")
      problem.allowed = allowed
      return problem
    }

    /// - Parameter most: bytes, or rows.
    static func tooLarge(_ most: Int) -> Problem {
      var problem = Problem(
        .contentTooLarge, "page", "the request is larger than it may be",
        cure: "send fewer rows at a time")
      problem.details = [JSON.Member("limit", .integer(Int64(most)))]
      problem.closes = true
      return problem
    }

    /// What comes after such a body is no request.
    static func cutOff(_ text: String) -> Problem {
      var problem = malformed(text)
      problem.closes = true
      return problem
    }

    var response: Response {
      var fields: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
      if let retryAfter { fields[.retryAfter] = String(retryAfter) }
      if status == .unauthorized { fields[.wwwAuthenticate] = "Bearer" }
      if let allowed { fields[.allow] = allowed }
      if closes { fields[.connection] = "close" }
      let members = [
        JSON.Member("error", .string(code)), JSON.Member("problem", .string(problem)),
        JSON.Member("cure", .string(cure)),
      ]
      return Response(
        status: status, headers: fields,
        body: ResponseBody(byteBuffer: .line(.object(members + details))))
    }
  }

  extension Problem {
    init(_ error: any Error) {
      switch error {
      case let error as Problem: self = error
      case let error as MessageError: self = Self.of(error)
      case let error as HubRefusal: self = Self.of(error)
      case let error as HubFault: self = Self.of(error)
      case let error as HubAccounts.Refusal: self = Self.of(error)
      case HubDatabaseError.noAccount:
        self = .path("there is no such account any more")
      // What fails names paths and hosts of the hub, which are for its logs alone.
      case HubDatabaseError.unavailable:
        self.init(
          .serviceUnavailable, "unavailable", "the hub's database does not answer now",
          cure: "try again later")
        retryAfter = 5
      default:
        self.init(
          .serviceUnavailable, "unavailable", "the hub's database fails",
          cure: "ask who runs the hub to look at its log")
        retryAfter = 60
      }
    }

    private static func of(_ error: MessageError) -> Problem {
      var problem = malformed("\(error)")
      if error.version != nil {
        problem = Problem(
          HTTPResponse.Status(code: 426, reasonPhrase: "Upgrade Required"), "protocol",
          error.problem, cure: "update the device, or the hub")
        problem.details = [JSON.Member("protocols", .array([.integer(MessageText.version)]))]
      } else {
        problem.details = [JSON.Member("line", .integer(Int64(error.line)))]
      }
      return problem
    }

    private static func of(_ error: HubRefusal) -> Problem {
      switch error {
      case .behind:
        Problem(
          .conflict, "behind", "the hub has rows that the device has not read",
          cure: "read them, then push again")
      case .moved:
        Problem(
          .conflict, "moved", "the hub does not stand as the device expects",
          cure: "look at it again, then repeat")
      }
    }

    private static func of(_ error: HubFault) -> Problem {
      switch error {
      case .malformed(let problem): return malformed(problem)
      case .limit(let name, let problem):
        // A device sends fewer rows at a time, until it knows which of them it is.
        let isRow = ["keyBytes", "valueBytes"].contains(name)
        var answer =
          isRow
          ? Problem(.contentTooLarge, "page", problem, cure: "shorten it, or remove it")
          : Problem(
            HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage"), "full", problem,
            cure: "remove what is not needed, or ask who runs the hub")
        answer.details = [JSON.Member("limit", name.json)]
        return answer
      }
    }

    private static func of(_ error: HubAccounts.Refusal) -> Problem {
      switch error {
      case .token:
        return Problem(
          .unauthorized, "token", "the hub does not know this token",
          cure: "join the account again by an invitation")
      case .revoked(let revocation):
        var problem = Problem(
          .forbidden, "revoked", "device \(revocation.member) has revoked this one",
          cure: "join the account again by an invitation")
        problem.details = [
          JSON.Member("date", .integer(revocation.date)),
          JSON.Member("by", .integer(revocation.member)),
        ]
        return problem
      case .invitation:
        return Problem(
          .forbidden, "invitation", "the code is wrong, was used, or has ended",
          cure: "ask for a new invitation")
      case .noDevice(let number): return path("the account has no device \(number)")
      case .full(let limit):
        var problem = Problem(
          HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage"), "full",
          "it has \(limit) devices, and no more may be", cure: "revoke one that is not used")
        problem.details = [JSON.Member("limit", "devices".json)]
        return problem
      case .name:
        return malformed("a name has 1 to \(HubAccounts.nameLimit) bytes, no control characters")
      }
    }
  }

  extension ByteBuffer {
    /// JSON with a line's end.
    static func line(_ json: JSON) -> ByteBuffer {
      ByteBuffer(string: json.text() + "\n")
    }
  }
#endif
