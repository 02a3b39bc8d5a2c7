// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import KeepsakeDevice
import KeepsakeSync
package import KeepsakeValues

/// A code that lets one more device use an account.
public struct HubInvitation: Sendable, Equatable {
  /// Gives access until it expires, is used, or is replaced by another code.
  public let code: String
  /// When the code expires.
  public let end: Date
}

/// A device of an account, as the hub knows it.
public struct HubDevice: Sendable, Equatable {
  /// Its number in the account.
  public let number: Int64
  /// The name that its user gave it.
  public let name: String
  /// When the device joined the account.
  public let created: Date
  /// When its token was last used, with the precision of a day.
  public let lastUse: Date
  /// Whether it is the device that has sent the request.
  public let isSelf: Bool
}

extension Hub {
  /// Makes a code with which another device can join the account. It replaces the code before.
  public func invite() throws(KeepsakeError) -> HubInvitation {
    let answer = try client.object("POST", path("/invitations"))
    guard case .string(let code)? = answer["code"], case .integer(let end)? = answer["ends"] else {
      throw HubFailure.malformed(url, "has no code")
    }
    return HubInvitation(code: code, end: Date(milliseconds: end))
  }

  /// The devices of the account, in the order of their numbers.
  public func devices() throws(KeepsakeError) -> [HubDevice] {
    guard case .array(let list)? = try client.object("GET", path("/devices"))["devices"] else {
      throw HubFailure.malformed(url, "has no devices")
    }
    let devices = list.compactMap { HubDevice($0) }
    guard devices.count == list.count else {
      throw HubFailure.malformed(url, "has a device that cannot be read")
    }
    return devices
  }

  /// Changes what the user calls a device.
  public func rename(_ device: Int64, to name: String) throws(KeepsakeError) {
    _ = try client.object(
      "PATCH", path("/devices/\(device)"), .object(["name": .string(name)]))
  }

  /// Revokes a device's token at once. The device keeps its data.
  public func revoke(_ device: Int64) throws(KeepsakeError) {
    _ = try client.object("DELETE", path("/devices/\(device)"))
  }

  /// Deletes the account, with all its rows and devices, from the hub. Devices keep their data.
  public func deleteAccount() throws(KeepsakeError) {
    _ = try client.object("DELETE", path(""))
  }

  /// Reads all rows of the account. A key that is pushed meanwhile appears twice: the later row is
  /// the valid one.
  ///
  /// - Returns: the number of rows that this version cannot read.
  package func forEachRow(_ body: (Entry) -> Void) throws(KeepsakeError) -> Int {
    let channel = HTTPChannel(hub: self)
    var request = HubPageRequest(replica: nil, cursor: HubCursor.beginning, rows: 1_000)
    var unreadable = 0
    while true {
      let answer = try channel.rows(request)
      guard answer.knowsCursor else {
        throw KeepsakeError(
          .unavailable, path: url.description, "it was changed while its rows were read",
          cure: "try again")
      }
      answer.rows.forEach(body)
      unreadable += answer.unreadable
      guard !answer.isLast else { return unreadable }
      guard let last = answer.lastNumber, last > request.after ?? 0 else {
        throw HubFailure.malformed(url, "never ends")
      }
      (request.after, request.newest) = (last, answer.newest)
    }
  }
}

extension HubDevice {
  fileprivate init?(_ json: JSON) {
    guard case .integer(let number)? = json["device"], case .string(let name)? = json["name"],
      case .integer(let created)? = json["created"], case .integer(let lastUse)? = json["lastUse"]
    else { return nil }
    (self.number, self.name) = (number, name)
    (self.created, self.lastUse) = (Date(milliseconds: created), Date(milliseconds: lastUse))
    isSelf = json["self"] == .boolean(true)
  }
}
