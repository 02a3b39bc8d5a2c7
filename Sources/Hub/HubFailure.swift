// SPDX-License-Identifier: Apache-2.0
//
// What went wrong with a hub, as an error that says where, what, and what to do. What the hub says
// of itself is quoted, and what to do about it is ours.

import Foundation
import KeepsakeSync
public import KeepsakeDevice
import KeepsakeValues

package enum HubFailure {
  /// When a hub wants to be asked again.
  package struct Pause: Error {
    let seconds: Int
    /// Whether it only gets too many requests.
    let isBusy: Bool

    package init(seconds: Int, isBusy: Bool = false) {
      (self.seconds, self.isBusy) = (seconds, isBusy)
    }
  }

  /// Seconds for which a hub is left alone at most, and what is no hub, as a proxy.
  private static let longestPause = (hub: 3600, other: 300)

  /// A hub that did not take a step, as the protocol has it.
  struct Refused: Error {
    let refusal: HubRefusal
  }

  static func malformed(_ url: HubURL, _ problem: String) -> KeepsakeError {
    KeepsakeError(
      .malformed, path: url.description, "its answer \(problem)",
      cure: "ask who runs the hub, or try another version")
  }

  static func unreachable(
    _ url: HubURL, _ fault: TransportFault, _ patience: Duration
  ) -> KeepsakeError {
    let problem =
      switch fault {
      case .silent: "nothing came back for \(patience.components.seconds) seconds"
      case .cancelled: "the request was cancelled"
      case .failed(let words): "it cannot be reached (\(clean(words)))"
      case .proxied(let variable): "the variable \(variable) would show the token to a proxy"
      }
    let cure =
      switch fault {
      case .proxied: "name this machine in no_proxy, as in no_proxy=localhost,127.0.0.1,::1"
      default:
        "check the address and the network; a certificate has to be one that the system trusts"
      }
    return KeepsakeError(
      .unreachable, path: url.description, problem, cure: cure, cause: fault)
  }

  static func slow(_ url: HubURL, _ deadline: Duration) -> KeepsakeError {
    KeepsakeError(
      .unreachable, path: url.description,
      "its answer takes longer than \(deadline.components.seconds / 60) minutes",
      cure: "check the network, and ask who runs the hub")
  }

  static func redirect(_ url: HubURL, _ place: String?) -> KeepsakeError {
    let target = place.map { " to \(clean($0))" } ?? ""
    return KeepsakeError(
      .unreachable, path: url.description, "it redirects\(target), which no hub does",
      cure: "name the hub's own address, or sign in to the network that you are in")
  }

  /// - Parameter bytes: JSON, if there are any.
  static func answer(
    _ url: HubURL, _ status: Int, _ headers: [String: String], _ bytes: [UInt8]
  ) -> KeepsakeError {
    let said = Said(bytes)
    func make(
      _ code: KeepsakeError.Code, _ problem: String, _ cure: String, _ cause: (any Error)? = nil
    ) -> KeepsakeError {
      let words = said.map { ": \($0.problem)" } ?? ""
      return KeepsakeError(
        code, path: url.description, problem + words, cure: cure, cause: cause)
    }
    let refusals: [String: HubRefusal] = ["behind": .behind, "moved": .moved]
    switch (status, said?.code) {
    case (409, let code?):
      guard let refusal = refusals[code] else { break }
      return make(
        .locked, "others write it meanwhile", "try again", Refused(refusal: refusal))
    case (413, _):
      return make(
        .tooLarge, "it takes no request of this size", "make the value smaller, or delete it",
        HubPageRefusal())
    case (429, _), (502, nil), (503, _), (504, nil):
      let most = said == nil ? longestPause.other : longestPause.hub
      let seconds = headers["retry-after"].flatMap { Int($0) }.map { min(max($0, 0), most) }
      let cure = seconds.map { "try again in \($0) s" } ?? "try again later"
      return make(
        .unavailable, status == 429 ? "it is busy" : "it is out of service", cure,
        seconds.map { Pause(seconds: $0, isBusy: status == 429) })
    case (401, _?):
      return make(.unauthorized, "it does not know the token", "join the account: kvsync hub join")
    case (403, "invitation"?):
      return make(
        .unauthorized, "it does not take the code", "ask for a new one: kvsync hub invite")
    case (403, _?):
      return make(.unauthorized, "it refuses the token", "join the account: kvsync hub join")
    case (426, _?):
      return make(
        .incompatible, "it speaks no version of the protocol that this program speaks",
        "update the older one of the two")
    case (507, _?):
      let cure =
        switch said?.limit {
        case "stores": "merge fewer of them: --store NAME, or ask who runs the hub"
        case "devices": "revoke one that is not used: kvsync hub devices"
        default: "delete what is not needed, or ask who runs the hub"
        }
      return make(.full, "the account is full there", cure)
    case (404, _?):
      return make(.missing, "it has no such thing", "check the address and the number")
    case (405, _?):
      return make(.incompatible, "it does not do what is asked", "update the hub")
    case (400, _?):
      return make(
        .malformed, "it cannot read what this program asks", "report this as a defect of Keepsake")
    case (500..., _?):
      return make(.malformed, "it fails (HTTP \(status))", "ask who runs the hub")
    default: break
    }
    let type = headers["content-type"].map { ", \(clean($0))" } ?? ""
    return KeepsakeError(
      .unreachable, path: url.description,
      "what answers is no hub of Keepsake (HTTP \(status)\(type))",
      cure: "check the address, or sign in to the network that you are in")
  }

  private struct Said {
    let code: String
    let problem: String
    /// What is full.
    let limit: String?

    /// - Returns: nil for what is no error of this protocol.
    init?(_ bytes: [UInt8]) {
      do {
        let json = try JSON(parsing: String(decoding: bytes, as: UTF8.self))
        let members = try MessageMembers(json, "the error")
        let words = clean(try members.text("problem"))
        // When a token was revoked.
        let date = members.has("date") ? try members.count("date") : nil
        let time = date.flatMap { ISO8601.text(milliseconds: $0) }.map { ", at \($0)" } ?? ""
        limit = members.ifText("limit")
        (code, problem) = (try members.text("error"), words + time)
      } catch {
        return nil
      }
    }
  }

  /// Words of others for a line of ours.
  private static func clean(_ words: String) -> String {
    String(
      words.unicodeScalars.prefix(200).map { $0.properties.isWhitespace ? " " : Character($0) })
  }
}

extension KeepsakeError {
  /// How long a hub that is busy or out of service asks to be left alone, if it says so; an hour at
  /// most, and five minutes where a proxy asks for it.
  public var retryAfter: Duration? {
    (rootCause as? HubFailure.Pause).map { .seconds($0.seconds) }
  }
}
