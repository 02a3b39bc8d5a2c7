// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import KeepsakeDevice
package import KeepsakeValues

/// What a device needs to use an account of a hub. The token is as good as the settings: keep it in
/// the Keychain, or in a file that its user alone can read.
public struct HubMembership: Sendable, Equatable {
  /// The number of the account on the hub.
  public let account: Int64
  /// The number of the device there.
  public let device: Int64
  /// What the hub knows the device by.
  public let token: String

  package init(account: Int64, device: Int64, token: String) {
    (self.account, self.device, self.token) = (account, device, token)
  }

  /// Makes an account, and this device its first.
  ///
  /// - Parameters:
  ///   - url: the hub's address.
  ///   - secret: the operator's.
  ///   - name: what the user calls the device.
  /// - Throws: `KeepsakeError`. When the answer is lost, the hub may keep an account that no device
  ///   uses.
  public static func create(
    at url: HubURL, secret: String, name: String
  ) throws(KeepsakeError) -> HubMembership {
    // An operator may have written one of any kind.
    guard secret.utf8.count >= 32, secret.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
      throw wrongSecret(url, "the secret is none of a hub's")
    }
    do throws(KeepsakeError) {
      return try HubClient(url: url, token: secret, transport: SystemTransport.make())
        .member("/accounts", ["name": .string(name)])
    } catch where error.code == .unauthorized {
      throw wrongSecret(url, "it does not take the secret")
    }
  }

  private static func wrongSecret(_ url: HubURL, _ problem: String) -> KeepsakeError {
    KeepsakeError(
      .unauthorized, path: url.description, problem,
      cure: "use what stands in the file of its operator's secret")
  }

  /// Makes this device one of an account.
  ///
  /// - Parameters:
  ///   - url: the hub's address.
  ///   - code: from `Hub.invite()` on another device; good once, for ten minutes.
  ///   - name: what the user calls the device.
  public static func join(
    at url: HubURL, code: String, name: String
  ) throws(KeepsakeError) -> HubMembership {
    guard HubSecret.isOne(code) else {
      throw KeepsakeError(
        .unauthorized, path: url.description, "the code is none of a hub's",
        cure: "use its 43 letters, digits, - and _")
    }
    return try HubClient(url: url, token: nil, transport: SystemTransport.make())
      .member("/devices", ["code": .string(code), "name": .string(name)])
  }
}

/// A code that lets one more device use an account.
public struct HubInvitation: Sendable, Equatable {
  /// As good as a token until it has ended or was used.
  public let code: String
  /// After which it is worth nothing.
  public let end: Date
}

/// A device of an account, as the hub knows it.
public struct HubDevice: Sendable, Equatable {
  /// Its number on the hub.
  public let number: Int64
  /// What its user calls it.
  public let name: String
  /// When it became one of the account.
  public let created: Date
  /// When its token was last used.
  public let lastUse: Date
  /// Its replica ID, once it has met the hub.
  public let replica: String?
  /// When and by which device its token was revoked.
  public let revoked: (date: Date, by: Int64)?
  /// Whether the hub no longer waits for it before it forgets deletions.
  public let isRetired: Bool
  /// Whether it is the one that asks.
  public let isSelf: Bool

  public static func == (a: HubDevice, b: HubDevice) -> Bool {
    a.number == b.number && a.name == b.name && a.created == b.created && a.lastUse == b.lastUse
      && a.replica == b.replica && a.revoked?.date == b.revoked?.date
      && a.revoked?.by == b.revoked?.by && a.isRetired == b.isRetired && a.isSelf == b.isSelf
  }
}

extension Hub {
  /// Makes a code with which another device may join the account.
  public func invite() throws(KeepsakeError) -> HubInvitation {
    try client.members("POST", "/invitations") { members throws(MessageError) in
      HubInvitation(
        code: try members.text("code"), end: Date(milliseconds: try members.count("end")))
    }
  }

  /// The devices of the account, also those that were revoked, in the order of their numbers.
  public func devices() throws(KeepsakeError) -> (account: Int64, devices: [HubDevice]) {
    try client.members("GET", "/devices") { members throws(MessageError) in
      (try members.count("account"), try members.objects("devices", HubDevice.init))
    }
  }

  /// Makes the token of a device worthless, at once. What it holds it keeps.
  public func revoke(_ device: Int64) throws(KeepsakeError) {
    _ = try client.ask("DELETE", "/devices/\(device)")
  }

  /// The hub no longer waits for a device before it forgets deletions. Its token works on.
  public func retire(_ device: Int64) throws(KeepsakeError) {
    _ = try client.ask("POST", "/devices/\(device)/retire", [])
  }

  /// Deletes the account, with all its rows and devices, from the hub. Devices keep what they hold.
  ///
  /// - Parameter account: its number, so that none is deleted by mistake.
  public func deleteAccount(confirming account: Int64) throws(KeepsakeError) {
    _ = try client.ask("DELETE", "/account?confirm=\(account)")
  }

  /// Reads all rows of the account, as lines of the protocol.
  ///
  /// - Parameter take: gets the text piece by piece.
  public func export(
    _ take: ([UInt8]) throws(KeepsakeError) -> Void
  ) throws(KeepsakeError) {
    var last = UInt8(ascii: "\n")
    try client.read("GET", "/export", for: .lines) { piece throws(KeepsakeError) in
      try take(piece)
      last = piece.last ?? last
    }
    guard last == UInt8(ascii: "\n") else {
      throw HubFailure.malformed(url, "was cut off")
    }
  }

  /// The same, row by row.
  package func forEachRow(_ body: (Entry) throws -> Void) throws {
    var (rest, number, failure) = ([UInt8](), 0, (any Error)?.none)
    do throws(KeepsakeError) {
      try export { piece throws(KeepsakeError) in
        guard rest.count + piece.count <= HubClient.limit else {
          throw HubFailure.malformed(url, "has a line that is longer than 16 MiB")
        }
        rest += piece
        let lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        rest = Array(lines.last ?? [])
        for line in lines.dropLast() {
          number += 1
          let entry = try row(line, number)
          do {
            try body(entry)
          } catch {
            failure = error
            throw KeepsakeError(error, path: url.description)
          }
        }
      }
    } catch {
      throw failure ?? error
    }
  }

  private func row(_ line: ArraySlice<UInt8>, _ number: Int) throws(KeepsakeError) -> Entry {
    do {
      return try line.withUnsafeBufferPointer { try MessageText.row($0).entry }
    } catch {
      throw HubFailure.malformed(url, "cannot be read, line \(number): \(error)")
    }
  }
}

extension HubDevice {
  fileprivate init(_ members: MessageMembers) throws(MessageError) {
    number = try members.count("device")
    name = try members.text("name")
    created = Date(milliseconds: try members.count("created"))
    lastUse = Date(milliseconds: try members.count("lastUse"))
    replica = members.has("replica") ? try members.replica("replica").description : nil
    let revocation = try members.ifMembers("revoked")
    if let revocation {
      revoked = (Date(milliseconds: try revocation.count("date")), try revocation.count("by"))
    } else {
      revoked = nil
    }
    isRetired = members.has("retired") ? try members.flag("retired") : false
    isSelf = members.has("self") ? try members.flag("self") : false
  }
}

extension HubClient {
  fileprivate func member(
    _ path: String, _ body: KeyValuePairs<String, JSON?>
  ) throws(KeepsakeError) -> HubMembership {
    let membership = try members("POST", path, .object(body)) { members throws(MessageError) in
      HubMembership(
        account: try members.count("account"), device: try members.count("device"),
        token: try members.text("token"))
    }
    guard HubSecret.isOne(membership.token) else {
      throw HubFailure.malformed(url, "has no token")
    }
    return membership
  }

  /// Asks, and reads an object.
  fileprivate func members<Value>(
    _ method: String, _ path: String, _ body: JSON? = nil,
    _ read: (MessageMembers) throws(MessageError) -> Value
  ) throws(KeepsakeError) -> Value {
    let text = body.map { Array(($0.text() + "\n").utf8) } ?? (method == "POST" ? [] : nil)
    let bytes = try ask(method, path, text)
    do {
      let json = try JSON(parsing: String(decoding: bytes, as: UTF8.self))
      return try read(MessageMembers(json, "the answer"))
    } catch let error as MessageError {
      throw HubFailure.malformed(url, "cannot be read, \(error)")
    } catch {
      throw HubFailure.malformed(url, "is no JSON, \(error)")
    }
  }
}
