// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeFormats
import KeepsakeHub
import KeepsakeValues

struct CreateCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "create", abstract: "Creates an account with this device as its first.",
    discussion: "  kvsync hub create https://hub.example phone.keepsake --secret hub.secret")

  @OptionGroup var member: NewMemberArguments
  @Option(
    help: "The file with the operator's secret. (default: KEEPSAKE_HUB_SECRET, or a line of input)",
    completion: .file())
  var secret: String?
  @OptionGroup var common: CommonOptions

  func run() throws {
    try member.enter(nil, saying: "has account", common) { membership, url, name in
      let secret = try DeviceHubs.readSecret(
        "the operator's secret", file: secret, variable: "KEEPSAKE_HUB_SECRET")
      try membership.create(at: url, secret: secret, name: name)
    }
  }
}

struct JoinCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "join",
    abstract: "Adds this device to an account, by a code of another of its devices.",
    discussion: """
      The code is a line of standard input, so that no list of processes shows it.

        kvsync hub invite phone.keepsake | kvsync hub join https://hub.example laptop.keepsake
      """)

  @OptionGroup var member: NewMemberArguments
  @OptionGroup var common: CommonOptions

  func run() throws {
    let code = try DeviceHubs.readSecret("the code of kvsync hub invite")
    let membership = try HubMembership(invitation: code)
    try member.enter(membership, saying: "has joined account", common) { membership, url, name in
      try membership.join(at: url, code: code, name: name)
    }
  }
}

struct InviteCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "invite",
    abstract: "Prints a code with which another device may join; valid once, for ten minutes.")

  @OptionGroup var arguments: HubArguments
  @OptionGroup var common: CommonOptions

  func run() throws {
    let invitation = try arguments.hub().invite()
    common.output.print(
      .object(["code": .string(invitation.code), "ends": .time(invitation.end)]),
      lines: [OutputLine(invitation.code)], isData: true)
  }
}

/// The arguments that name a device and one of its hubs.
struct HubArguments: ParsableArguments {
  @Argument(help: "The device file.", completion: .file()) var file: String
  @Argument(help: "The hub's address, if the device knows several.") var url: String?

  func hub() throws -> Hub { try DeviceHubs.hub(of: file, at: url) }
}

/// The arguments that also name a device of the account, by its number.
struct HubDeviceArguments: ParsableArguments {
  @Argument(help: "The device file.", completion: .file()) var file: String
  @Argument(help: "The number that kvsync hub devices shows.") var number: Int64
  @Argument(help: "The hub's address, if the device knows several.") var url: String?

  func change(
    to state: String, _ common: CommonOptions, _ ask: (Hub, Int64) throws -> Void
  ) throws {
    let hub = try DeviceHubs.hub(of: file, at: url)
    try ask(hub, number)
    common.done("\(hub.url): number \(number) is \(state)")
  }
}

struct DevicesCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "devices", abstract: "Lists the devices of the account.")

  @OptionGroup var arguments: HubArguments
  @OptionGroup var common: CommonOptions

  func run() throws {
    let hub = try arguments.hub()
    let devices = try hub.devices()
    common.output.print(
      .object([
        "account": .string(HexNumber.text(hub.account)), "devices": .array(devices.map(json)),
      ]), lines: devices.map { OutputLine(line($0)) }, isData: true)
  }

  private func json(_ device: HubDevice) -> JSON {
    .object([
      "device": .integer(device.number), "name": .string(device.name),
      "created": .time(device.created), "lastUse": .time(device.lastUse),
      "self": device.isSelf ? .boolean(true) : nil,
    ])
  }

  private func line(_ device: HubDevice) -> String {
    var parts = [
      "\(device.number)", device.name.quotedIfNeeded, "last used \(device.lastUse.iso8601)",
    ]
    if device.isSelf { parts.append("this device") }
    return parts.joined(separator: "  ")
  }
}

struct RevokeCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke",
    abstract: "Removes a device from the account: its token is revoked, its data stays on it.")

  @OptionGroup var arguments: HubDeviceArguments
  @OptionGroup var common: CommonOptions

  func run() throws {
    try arguments.change(to: "revoked", common) { hub, number in try hub.revoke(number) }
  }
}

struct RenameCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "rename", abstract: "Renames a device of the account.")

  @OptionGroup var arguments: HubDeviceArguments
  @Option(help: "The new name.") var name: String
  @OptionGroup var common: CommonOptions

  func run() throws {
    try NewMemberArguments.checkName(name)
    try arguments.change(to: "called \(name.quotedIfNeeded)", common) { hub, number in
      try hub.rename(number, to: name)
    }
  }
}

struct ExportCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Prints all that the account holds, for import to read.",
    discussion: """
      The oldest write comes first, deletions are among them, as in kvsync export --deleted. To \
      restore an account, import the lines into a new device file, and create an account with it.

        kvsync hub export phone.keepsake > account.jsonl
        kvsync import copy.keepsake account.jsonl
        kvsync hub create https://hub.example copy.keepsake --secret hub.secret
        kvsync merge copy.keepsake https://hub.example
      """)

  @OptionGroup var arguments: HubArguments
  @OptionGroup var common: CommonOptions

  func run() throws {
    // In memory: the limits of a hub bound an account. A key that is pushed meanwhile appears
    // twice.
    var entries: [Address: Entry] = [:]
    let hub = try arguments.hub()
    let unreadable = try hub.forEachRow { entry in
      entries[entry.address] = entry
      ProgressLine.count(entries.count, "read")
    }
    if unreadable > 0 {
      Output.note(
        "\(hub.url): \(counted(unreadable, "row")) cannot be read by this version, and "
          + "\(unreadable == 1 ? "is" : "are") left out; update Keepsake", .warning)
    }
    let sorted = entries.values.sorted {
      ($0.timestamp, $0.replicaID, $0.address) < ($1.timestamp, $1.replicaID, $1.address)
    }
    try common.output.printEach { write in
      for entry in sorted { write(.object(try entry.exported())) }
    }
  }
}

struct DeleteCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Deletes the account from the hub; devices keep what they hold.")

  @OptionGroup var arguments: HubArguments
  @Option(help: "The ID of the account, so that none is deleted by mistake.") var confirm: String
  @OptionGroup var common: CommonOptions

  func run() throws {
    let hub = try arguments.hub()
    let account = HexNumber.text(hub.account)
    guard account == confirm else {
      throw InputError.usage(
        "\(arguments.file): its account is \(account), not \(confirm); nothing is deleted")
    }
    try hub.deleteAccount()
    for entry in try DeviceHubs.entries(of: arguments.file, at: hub.url)
    where entry.membership.account == hub.account {
      try DeviceHubs.credentials.remove(entry)
    }
    common.done("\(hub.url): account \(account) is deleted; devices keep what they hold")
  }
}

extension CommonOptions {
  fileprivate func done(_ line: String) {
    output.print(.object([]), lines: [OutputLine(line)], isData: false)
  }
}
