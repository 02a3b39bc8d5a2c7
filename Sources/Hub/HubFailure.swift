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
      case .failed(let words): "it cannot be reached (\(clean(words)))"
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

  static func redirect(_ url: HubURL, _ place: String?) -> KeepsakeError {
    let target = place.map { " to \(clean($0))" } ?? ""
    return KeepsakeError(
      .unreachable, path: url.description, "it redirects\(target), which no hub does",
      cure: "name the hub's own address, or sign in to the network that you are in")
  }

  static func answer(
    _ url: HubURL, _ status: Int, _ headers: [String: String], _ problem: HubProblem
  ) -> KeepsakeError {
    let (code, sentence, cure) =
      known(problem.name, problem) ?? known(type(status), problem)
      ?? unknown(status, headers, problem)
    let detail = problem.detail.isEmpty ? "" : ": \(problem.detail)"
    return KeepsakeError(
      code, path: url.description, sentence + detail, cure: cure, cause: problem)
  }

  private typealias Sentences = (KeepsakeError.Code, problem: String, cure: String)

  /// The problem types of the protocol.
  private static func known(_ type: String?, _ problem: HubProblem) -> Sentences? {
    let later = problem.retryAfter.map { "try again in \($0) s" } ?? "try again later"
    switch type {
    case "malformed", "length", "condition":
      return (
        .malformed, "it cannot read what this program sends",
        "report this as a defect of Keepsake"
      )
    case "token":
      return (.unauthorized, "it does not know the token", "join the account: kvsync hub join")
    case "code":
      return (.unauthorized, "it refuses the code", "ask for a new one: kvsync hub invite")
    case "path": return (.missing, "it has no such thing", "check the address and the number")
    case "taken":
      return (.locked, "another account has this ID", "make the account again")
    case "too-large":
      let cure =
        problem.isOfSender
        ? "ask who runs the hub to raise the limit" : "make the value smaller, or delete it"
      return (.tooLarge, "it accepts no request of this size", cure)
    case "too-many": return (.unavailable, "it is busy", later)
    case "busy", "unavailable": return (.unavailable, "it is out of service", later)
    case "full":
      let cure =
        problem.limit == "devices"
        ? "revoke one that is not used: kvsync hub devices"
        : "delete what is not needed, or ask who runs the hub"
      return (.full, "the account is full there", cure)
    default: return nil
    }
  }

  /// The problem type of a status that a proxy sends in place of the hub.
  private static func type(_ status: Int) -> String? {
    switch status {
    case 413: "too-large"
    case 429: "too-many"
    case 502, 503, 504: "unavailable"
    default: nil
    }
  }

  private static func unknown(
    _ status: Int, _ headers: [String: String], _ problem: HubProblem
  ) -> Sentences {
    if problem.name != nil {
      return (.incompatible, "it refuses the request (HTTP \(status))", "update the older one")
    }
    let type = headers["content-type"].map { ", \(clean($0))" } ?? ""
    return (
      .unreachable, "what answers is no hub of Keepsake (HTTP \(status)\(type))",
      "check the address, or sign in to the network that you are in"
    )
  }

  /// Shortens foreign text, and removes its line breaks.
  static func clean(_ words: String) -> String {
    String(
      words.unicodeScalars.prefix(200).map { $0.properties.isWhitespace ? " " : Character($0) })
  }
}
