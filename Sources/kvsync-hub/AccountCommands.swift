// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeHub
import KeepsakeTransfer
import KeepsakeValues

struct CreateCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "create", abstract: "Makes an account, and this device its first.")

  @Argument(help: "The hub's address.") var url: String
  @Argument(help: "The device file.", completion: .file()) var file: String
  @Option(help: "What the device is called. (default: the file's name)") var name: String?
  @Option(
    help: "The file with the operator's secret. (default: KEEPSAKE_HUB_SECRET, or a line of input)",
    completion: .file())
  var secret: String?
  @OptionGroup var common: CommonOptions

  func run() throws {
    let url = try HubURL(url)
    _ = try common.open(file, .existing)
    let secret = try Membership.secret(
      "the operator's secret:", file: secret, variable: "KEEPSAKE_HUB_SECRET")
    let membership = try HubMembership.create(
      at: url, secret: secret, name: name ?? Membership.name(file))
    try Membership.keep(membership, url, file)
    try common.show(membership, "has account", url)
  }
}

struct JoinCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "join",
    abstract: "Makes this device one of an account, by a code of another device of it.",
    discussion: "The code is a line of standard input, so that no list of processes shows it.")

  @Argument(help: "The hub's address.") var url: String
  @Argument(help: "The device file.", completion: .file()) var file: String
  @Option(help: "What the device is called. (default: the file's name)") var name: String?
  @OptionGroup var common: CommonOptions

  func run() throws {
    let url = try HubURL(url)
    _ = try common.open(file, .existing)
    let code = try Membership.secret("the code of kvsync hub invite:")
    let membership = try HubMembership.join(
      at: url, code: code, name: name ?? Membership.name(file))
    try Membership.keep(membership, url, file)
    try common.show(membership, "has joined account", url)
  }
}

extension CommonOptions {
  fileprivate func show(_ membership: HubMembership, _ verb: String, _ url: HubURL) throws {
    output.print(
      .object([
        "hub": .string(url.description), "account": .integer(membership.account),
        "device": .integer(membership.device),
      ]),
      lines: [
        Line(
          "\(url): this device \(verb) \(membership.account), as number \(membership.device)")
      ], isData: false)
  }
}

struct InviteCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "invite",
    abstract: "Prints a code with which another device may join; good once, for ten minutes.")

  @OptionGroup var place: HubPlace
  @OptionGroup var common: CommonOptions

  func run() throws {
    let invitation = try place.hub().invite()
    common.output.print(
      .object(["code": .string(invitation.code), "end": Shown.time(invitation.end)]),
      lines: [Line(invitation.code)], isData: true)
  }
}

/// A device and one of its hubs.
struct HubPlace: ParsableArguments {
  @Argument(help: "The device file.", completion: .file()) var file: String
  @Argument(help: "The hub's address, where the device knows several.") var url: String?

  func hub() throws -> Hub { try Membership.hub(file, url) }
}

/// The same, and a number of a device of the account.
struct NumberedPlace: ParsableArguments {
  @Argument(help: "The device file.", completion: .file()) var file: String
  @Argument(help: "The number that kvsync hub devices shows.") var number: Int64
  @Argument(help: "The hub's address, where the device knows several.") var url: String?

  func hub() throws -> Hub { try Membership.hub(file, url) }
}

struct DevicesCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "devices", abstract: "Lists the devices of the account.")

  @OptionGroup var place: HubPlace
  @OptionGroup var common: CommonOptions

  func run() throws {
    let (account, devices) = try place.hub().devices()
    common.output.print(
      .object([
        "account": .integer(account), "devices": .array(devices.map(json)),
      ]), lines: devices.map { Line(line($0)) }, isData: true)
  }

  private func json(_ device: HubDevice) -> JSON {
    .object([
      "device": .integer(device.number), "name": .string(device.name),
      "created": Shown.time(device.created), "lastUse": Shown.time(device.lastUse),
      "replica": device.replica.map(JSON.string),
      "revoked": device.revoked.map {
        .object(["date": Shown.time($0.date), "by": .integer($0.by)])
      },
      "retired": device.isRetired ? .boolean(true) : nil,
      "self": device.isSelf ? .boolean(true) : nil,
    ])
  }

  private func line(_ device: HubDevice) -> String {
    var parts = [
      "\(device.number)", Shown.name(device.name), "last used \(Shown.text(device.lastUse))",
    ]
    if device.isSelf { parts.append("this device") }
    if device.isRetired { parts.append("retired") }
    if let revoked = device.revoked {
      parts.append("revoked \(Shown.text(revoked.date)) by number \(revoked.by)")
    }
    return parts.joined(separator: "  ")
  }
}

struct RevokeCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke",
    abstract: "Makes the token of a device worthless, at once; what it holds it keeps.")

  @OptionGroup var place: NumberedPlace
  @OptionGroup var common: CommonOptions

  func run() throws {
    let hub = try place.hub()
    try hub.revoke(place.number)
    common.done("\(hub.url): number \(place.number) is revoked")
  }
}

struct RetireCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "retire",
    abstract: "Lets the hub forget deletions that a device has not read yet.",
    discussion: "For a device that will not come back, or not for long. Its token works on.")

  @OptionGroup var place: NumberedPlace
  @OptionGroup var common: CommonOptions

  func run() throws {
    let hub = try place.hub()
    try hub.retire(place.number)
    common.done("\(hub.url): number \(place.number) is retired")
  }
}

struct ExportCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Prints all rows of the account as JSON Lines.")

  @OptionGroup var place: HubPlace
  @OptionGroup var common: CommonOptions

  func run() throws {
    try place.hub().export { piece in Output.standardOutput(bytes: piece) }
  }
}

struct DeleteCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Deletes the account from the hub; devices keep what they hold.")

  @OptionGroup var place: HubPlace
  @Option(help: "The number of the account, so that none is deleted by mistake.") var confirm: Int64
  @OptionGroup var common: CommonOptions

  func run() throws {
    let hub = try place.hub()
    let entries = try Membership.entries(of: place.file).filter {
      $0.hub == hub.url.description
    }
    if let entry = entries.first, entry.membership.account != confirm {
      throw InputError.usage(
        "\(place.file): its account is not \(confirm); see kvsync hub devices \(place.file)")
    }
    try hub.deleteAccount(confirming: confirm)
    for entry in entries { try Membership.credentials.remove(entry) }
    common.done("\(hub.url): account \(confirm) is deleted; devices keep what they hold")
  }
}

extension CommonOptions {
  fileprivate func done(_ line: String) {
    output.print(.object([]), lines: [Line(line)], isData: false)
  }
}
