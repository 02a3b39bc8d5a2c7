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
    commandName: "create", abstract: "Makes an account, and this device its first.",
    discussion: "  kvsync hub create https://hub.example phone.keepsake --secret hub.secret")

  @OptionGroup var newcomer: Newcomer
  @Option(
    help: "The file with the operator's secret. (default: KEEPSAKE_HUB_SECRET, or a line of input)",
    completion: .file())
  var secret: String?
  @OptionGroup var common: CommonOptions

  func run() throws {
    try newcomer.enter("has account", common) { url, name in
      let secret = try Membership.secret(
        "the operator's secret", file: secret, variable: "KEEPSAKE_HUB_SECRET")
      return try HubMembership.create(at: url, secret: secret, name: name)
    }
  }
}

struct JoinCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "join",
    abstract: "Makes this device one of an account, by a code of another device of it.",
    discussion: """
      The code is a line of standard input, so that no list of processes shows it.

        kvsync hub invite phone.keepsake | kvsync hub join https://hub.example laptop.keepsake
      """)

  @OptionGroup var newcomer: Newcomer
  @OptionGroup var common: CommonOptions

  func run() throws {
    try newcomer.enter("has joined account", common) { url, name in
      let code = try Membership.secret("the code of kvsync hub invite")
      return try HubMembership.join(at: url, code: code, name: name)
    }
  }
}

/// A device that becomes one of an account.
struct Newcomer: ParsableArguments {
  @Argument(help: "The hub's address.") var url: String
  @Argument(help: "The device file.", completion: .file()) var file: String
  @Option(help: "What the device is called. (default: the file's name)") var name: String?
  @Flag(help: "Make the device file if it is missing.") var create = false

  func validate() throws {
    guard let name else { return }
    guard !name.isEmpty, name.utf8.count <= 200,
      name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
    else { throw ValidationError("--name takes 1 to 200 bytes without control characters") }
  }

  func enter(
    _ verb: String, _ common: CommonOptions, _ ask: (HubURL, String) throws -> HubMembership
  ) throws {
    let url = try HubURL(url)
    do throws(KeepsakeError) {
      _ = try common.open(file, create ? .create : .existing)
    } catch {
      guard error.code == .missing else { throw error }
      throw KeepsakeError(
        .missing, path: error.path, error.problem, cure: "check the path, or let --create make it")
    }
    try refuseMember(url)
    try Membership.credentials.checkWritable()
    let membership = try ask(url, name ?? Membership.name(file))
    try Membership.keep(membership, url, file)
    common.output.print(
      .object([
        "hub": .string(url.description), "account": .integer(membership.account),
        "device": .integer(membership.device),
      ]),
      lines: [
        Line("\(url): this device \(verb) \(membership.account), as number \(membership.device)")
      ], isData: false)
  }

  /// A second membership would take the place of the first, whose token would be lost.
  private func refuseMember(_ url: HubURL) throws {
    guard let entry = try Membership.entries(of: file, at: url).first else { return }
    do {
      let (account, devices) = try Hub(url, token: entry.membership.token).devices()
      let number = devices.first(where: \.isSelf)?.number ?? entry.membership.device
      // If the last device revoked itself, no device could reach the account any more.
      let isLast = devices.allSatisfy { $0.isSelf || $0.revoked != nil }
      let cure =
        isLast
        ? "delete it first: kvsync hub delete \(file) --confirm \(account)"
        : "revoke that first: kvsync hub revoke \(file) \(number)"
      throw InputError.usage(
        "\(file): this device has account \(account) at \(url) already, as number \(number); "
          + cure)
    } catch let error as KeepsakeError where error.code == .unauthorized {
      // The hub does not know it any more.
    }
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

  func change(
    to state: String, _ common: CommonOptions, _ ask: (Hub, Int64) throws -> Void
  ) throws {
    let hub = try Membership.hub(file, url)
    try ask(hub, number)
    common.done("\(hub.url): number \(number) is \(state)")
  }
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
    try place.change(to: "revoked", common) { hub, number in try hub.revoke(number) }
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
    try place.change(to: "retired", common) { hub, number in try hub.retire(number) }
  }
}

struct ExportCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Prints all that the account holds, for import to read.",
    discussion: """
      The oldest write comes first, deletions are among them, as in kvsync export --deleted.

        kvsync hub export phone.keepsake > account.jsonl
        kvsync import copy.keepsake account.jsonl
      """)

  @OptionGroup var place: HubPlace
  @OptionGroup var common: CommonOptions

  func run() throws {
    // In memory: the limits of a hub bound an account.
    var entries: [Entry] = []
    try place.hub().forEachRow { entry in
      entries.append(entry)
      ProgressLine.count(entries.count, "read")
    }
    entries.sort { ($0.timestamp, $0.origin, $0.address) < ($1.timestamp, $1.origin, $1.address) }
    try common.output.printEach { write in
      for entry in entries { write(try TransferLine.json(entry)) }
    }
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
    let entries = try Membership.entries(of: place.file, at: hub.url)
    // The hub tells: a token of the environment may be of another account than the entry.
    let account = try hub.devices().account
    guard account == confirm else {
      throw InputError.usage(
        "\(place.file): its account is \(account), not \(confirm); nothing is deleted")
    }
    try hub.deleteAccount(confirming: confirm)
    for entry in entries where entry.membership.account == account {
      try Membership.credentials.remove(entry)
    }
    common.done("\(hub.url): account \(confirm) is deleted; devices keep what they hold")
  }
}

extension CommonOptions {
  fileprivate func done(_ line: String) {
    output.print(.object([]), lines: [Line(line)], isData: false)
  }
}
