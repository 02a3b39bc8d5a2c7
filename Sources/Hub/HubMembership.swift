// SPDX-License-Identifier: Apache-2.0

public import KeepsakeDevice
import KeepsakeValues

/// The credentials of a device for an account of a hub. The device makes its token itself; store
/// the membership before `create` or `join` sends it, so that no account is lost with an answer.
///
///     var membership = HubMembership.forNewAccount()
///     try keep(membership)
///     try membership.create(at: url, secret: secret, name: "phone")
///
/// The token is as good as the settings: keep it in the Keychain, or in a file that its user alone
/// can read.
public struct HubMembership: Sendable, Equatable {
  /// The ID of the account: a random number below 2^62.
  public let account: Int64
  /// Identifies the device to the hub: 32 random bytes as base64url without padding.
  public let token: String
  /// The number of the device in the account; nil until the hub has assigned it.
  public internal(set) var device: Int64?

  package init(account: Int64, token: String, device: Int64?) {
    (self.account, self.token, self.device) = (account, token, device)
  }

  /// A membership as it was stored.
  ///
  /// - Throws: `KeepsakeError` with the code `unauthorized` if the ID or the token is malformed.
  public init(account: Int64, token: String) throws(KeepsakeError) {
    guard (1..<(1 << 62)).contains(account), Secrets.isSecret(token) else {
      throw KeepsakeError(
        .unauthorized, path: "(membership)", "the account or the token is none of a hub's",
        cure: "use both as the device has stored them")
    }
    self.init(account: account, token: token, device: nil)
  }

  /// The membership of a new account.
  public static func forNewAccount() -> HubMembership {
    HubMembership(account: .random(in: 1..<(1 << 62)), token: Secrets.random(), device: nil)
  }

  /// The membership of an account for which another device has made an invitation.
  ///
  /// - Parameter code: from `Hub.invite()`; valid once, for ten minutes.
  /// - Throws: `KeepsakeError` with the code `unauthorized` if the code is malformed.
  public init(invitation code: String) throws(KeepsakeError) {
    guard let dot = code.firstIndex(of: "."),
      let account = JSON.string(String(code[..<dot])).hexadecimal, account > 0,
      Secrets.isSecret(code[code.index(after: dot)...])
    else {
      throw KeepsakeError(
        .unauthorized, path: "(code)", "the code is none of a hub's",
        cure: "use the whole line that kvsync hub invite prints")
    }
    self.init(account: account, token: Secrets.random(), device: nil)
  }

  // MARK: - Joining

  /// Creates the account, with this device as its first. May be repeated.
  ///
  /// - Parameters:
  ///   - url: the hub's address.
  ///   - secret: the operator's secret.
  ///   - name: what the user calls the device.
  public mutating func create(
    at url: HubURL, secret: String, name: String
  ) throws(KeepsakeError) {
    try create(at: url, secret: secret, name: name, by: SystemTransport())
  }

  package mutating func create(
    at url: HubURL, secret: String, name: String, by transport: any HubTransport
  ) throws(KeepsakeError) {
    // The operator may have chosen a secret that a header cannot hold.
    guard secret.utf8.count >= 32, secret.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
      throw Self.wrongSecret(url, "the secret is none of a hub's")
    }
    let body = JSON.object(["name": .string(name), "token": .string(token)])
    do throws(KeepsakeError) {
      device = try HubClient(url: url, token: secret, transport: transport)
        .joined("PUT", "/accounts/\(HexNumber.text(account))", body, account)
    } catch  where error.code == .unauthorized {
      throw Self.wrongSecret(url, "it does not take the secret")
    }
  }

  private static func wrongSecret(_ url: HubURL, _ problem: String) -> KeepsakeError {
    KeepsakeError(
      .unauthorized, path: url.description, problem,
      cure: "use what the file of its operator's secret holds")
  }

  /// Adds this device to the account. May be repeated.
  ///
  /// - Parameters:
  ///   - url: the hub's address.
  ///   - code: the invitation for which the membership was made.
  ///   - name: what the user calls the device.
  public mutating func join(
    at url: HubURL, code: String, name: String
  ) throws(KeepsakeError) {
    try join(at: url, code: code, name: name, by: SystemTransport())
  }

  package mutating func join(
    at url: HubURL, code: String, name: String, by transport: any HubTransport
  ) throws(KeepsakeError) {
    let body = JSON.object([
      "code": .string(code), "name": .string(name), "token": .string(token),
    ])
    device = try HubClient(url: url, token: nil, transport: transport)
      .joined("POST", "/accounts/\(HexNumber.text(account))/devices", body, account)
  }
}

extension HubClient {
  /// Sends the request that adds a device to an account.
  ///
  /// - Returns: the device's number.
  fileprivate func joined(
    _ method: String, _ path: String, _ body: JSON, _ account: Int64
  ) throws(KeepsakeError) -> Int64 {
    let answer = try object(method, path, body)
    guard answer["account"]?.hexadecimal == account, case .integer(let device)? = answer["device"]
    else { throw HubFailure.malformed(url, "has no account, or no device") }
    return device
  }

  /// Sends a request, and reads a JSON object.
  func object(
    _ method: String, _ path: String, _ body: JSON? = nil
  ) throws(KeepsakeError) -> JSON {
    let bytes = body.map { Array($0.text().utf8) } ?? (method == "POST" ? [] : nil)
    let response = try send(HubRequest(method, path, bytes))
    if response.status == 204 { return .object([]) }
    guard let json = JSON.read(response.body), case .object = json else {
      throw HubFailure.malformed(url, "is no JSON object")
    }
    return json
  }
}
