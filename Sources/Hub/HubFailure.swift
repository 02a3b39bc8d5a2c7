// SPDX-License-Identifier: Apache-2.0
//
// Errors about hubs: each names the hub, the problem and a cure, and quotes the hub's details.

import Foundation
import KeepsakeDevice
import KeepsakeValues

enum HubFailure {
  /// The hub's answer violates the protocol.
  static func malformed(_ url: HubURL, _ problem: String) -> KeepsakeError {
    KeepsakeError(
      .malformed, path: url.description, "its answer \(problem)",
      cure: "ask who runs the hub, or try another version")
  }

  static func unreachable(
    _ url: HubURL, _ fault: TransportFault, _ timeout: Duration
  ) -> KeepsakeError {
    let problem =
      switch fault {
      case .timedOut: "nothing came back for \(timeout.components.seconds) seconds"
      case .cancelled: "the request was cancelled"
      case .failed(let reason): "it cannot be reached (\(clean(reason)))"
      }
    return KeepsakeError(
      .unreachable, path: url.description, problem,
      cure: "check the address and the network; a certificate has to be one that the system trusts",
      cause: fault)
  }

  static func slow(_ url: HubURL) -> KeepsakeError {
    KeepsakeError(
      .unreachable, path: url.description, "its answer comes too slowly",
      cure: "check the network, and ask who runs the hub")
  }

  static func redirect(_ url: HubURL, to place: String?) -> KeepsakeError {
    let target = place.map { " to \(clean($0))" } ?? ""
    return KeepsakeError(
      .unreachable, path: url.description, "it redirects\(target), which no hub does",
      cure: "name the hub's own address, or sign in to the network that you are in")
  }

  static func answer(
    _ url: HubURL, _ status: Int, _ headers: [String: String], _ problem: HubProblem
  ) -> KeepsakeError {
    let detail = problem.detail.isEmpty ? "" : ": \(problem.detail)"
    func error(_ code: KeepsakeError.Code, _ text: String, cure: String) -> KeepsakeError {
      KeepsakeError(code, path: url.description, text + detail, cure: cure, cause: problem)
    }
    let later = problem.retryAfter.map { "try again in \($0) s" } ?? "try again later"
    switch problem.name.flatMap(ProblemType.init(rawValue:)) ?? ProblemType(ofProxyWith: status) {
    case .malformed, .length, .condition:
      return error(
        .malformed, "it cannot read what this program sends",
        cure: "report this as a defect of Keepsake")
    case .token:
      return error(
        .unauthorized, "it does not know the token", cure: "join the account: kvsync hub join")
    case .code:
      return error(
        .unauthorized, "it refuses the code", cure: "ask for a new one: kvsync hub invite")
    case .path:
      return error(.missing, "it has no such thing", cure: "check the address and the number")
    case .taken:
      return error(.locked, "another account has this ID", cure: "make the account again")
    case .tooLarge:
      let cure =
        problem.isOfSender
        ? "ask who runs the hub to raise the limit" : "make the value smaller, or delete it"
      return error(.tooLarge, "it accepts no request of this size", cure: cure)
    case .tooMany: return error(.unavailable, "it is busy", cure: later)
    case .busy, .unavailable: return error(.unavailable, "it is out of service", cure: later)
    case .full:
      let cure =
        problem.limit == "devices"
        ? "revoke one that is not used: kvsync hub devices"
        : "delete what is not needed, or ask who runs the hub"
      return error(.full, "the account is full there", cure: cure)
    case nil where problem.name != nil:
      return error(
        .incompatible, "it refuses the request (HTTP \(status))", cure: "update the older one")
    case nil:
      let type = headers["content-type"].map { ", \(clean($0))" } ?? ""
      return error(
        .unreachable, "what answers is no hub of Keepsake (HTTP \(status)\(type))",
        cure: "check the address, or sign in to the network that you are in")
    }
  }

  /// The problem types of the protocol.
  private enum ProblemType: String {
    case malformed, length, condition, token, code, path, taken, busy, unavailable, full
    case tooLarge = "too-large"
    case tooMany = "too-many"

    /// The type of a status that a proxy sends in place of the hub.
    init?(ofProxyWith status: Int) {
      switch status {
      case 413: self = .tooLarge
      case 429: self = .tooMany
      case 502, 503, 504: self = .unavailable
      default: return nil
      }
    }
  }

  /// Shortens foreign text, and removes its line breaks.
  static func clean(_ text: String) -> String {
    String(
      text.unicodeScalars.prefix(200).map { $0.properties.isWhitespace ? " " : Character($0) })
  }
}
