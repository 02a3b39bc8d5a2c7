// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeFormats
import KeepsakeHub
import KeepsakeSync
import KeepsakeValues

/// The arguments of commands that add a device to an account.
struct NewMemberArguments: ParsableArguments {
  @Argument(help: "The hub's address.") var url: String
  @Argument(help: "The device file.", completion: .file()) var file: String
  @Option(help: "The name of the device. (default: the file's name)") var name: String?
  @Flag(help: "Create the device file if it is missing.") var create = false
  @Flag(help: "Keep what the device has of another account; this account then gets it.")
  var merge = false
  @Flag(help: "Empty the synced stores of a device that has another account.") var discard = false

  func validate() throws {
    if let name { try Self.checkName(name) }
    if merge, discard { throw ValidationError("give --merge or --discard, not both") }
  }

  static func checkName(_ name: String) throws {
    guard !name.isEmpty, name.utf8.count <= 200,
      name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
    else { throw ValidationError("--name takes 1 to 200 bytes without control characters") }
  }

  /// - Parameters:
  ///   - given: the membership of the account to join; nil for a new account.
  ///   - ask: sends the request that adds the device.
  func enter(
    _ given: HubMembership?, saying verb: String, _ common: CommonOptions,
    ask: (inout HubMembership, HubURL, String) throws -> Void
  ) throws {
    let url = try HubURL(url)
    let device = try open(common)
    let known = try DeviceHubs.entries(of: file, at: url).map(\.membership)
    try refuseMember(known.first { $0.device != nil }, of: url)
    // The membership of an earlier attempt, whose token the hub may know.
    let pending = known.first { $0.device == nil && (given?.account ?? $0.account) == $0.account }
    var membership = pending ?? given ?? .forNewAccount()
    let others = try device.hubAccounts().filter { $0 != membership.account }
    guard others.isEmpty || merge || discard else {
      throw InputError.usage(
        "\(file): this device has values of another account;"
          + " --merge brings them into this one, --discard empties its synced stores")
    }
    try DeviceHubs.store(membership, at: url, for: file)
    do {
      try ask(&membership, url, name ?? DeviceHubs.defaultName(of: file))
    } catch let error as KeepsakeError where error.code == .unauthorized {
      try DeviceHubs.removeEntries(of: file) {
        $0.hub == url.description && $0.membership.device == nil
      }
      throw error
    }
    if !others.isEmpty {
      try device.leaveHubs(keepsValues: merge)
      if discard {
        try DeviceHubs.removeEntries(of: file) { others.contains($0.membership.account) }
      }
    }
    // The membership is usable only now: nothing of another account is sent.
    try DeviceHubs.store(membership, at: url, for: file)
    let (account, number) = (HexNumber.text(membership.account), membership.device ?? 0)
    common.output.print(
      .object([
        "hub": .string(url.description), "account": .string(account), "device": .integer(number),
      ]), lines: [OutputLine("\(url): this device \(verb) \(account), as number \(number)")],
      isData: false)
  }

  private func open(_ common: CommonOptions) throws -> Device {
    do throws(KeepsakeError) {
      return try common.open(file, create ? .create : .existing)
    } catch {
      guard error.code == .missing else { throw error }
      throw KeepsakeError(
        .missing, path: error.path, error.problem, cure: "check the path, or let --create make it")
    }
  }

  /// A second membership would replace the first, whose token would be lost.
  private func refuseMember(_ membership: HubMembership?, of url: HubURL) throws {
    guard let membership, let number = membership.device else { return }
    do {
      let devices = try Hub(url, membership).devices()
      // If the last device revoked itself, no device could reach the account any more.
      let isLast = devices.allSatisfy(\.isSelf)
      let account = HexNumber.text(membership.account)
      let cure =
        isLast
        ? "delete it first: kvsync hub delete \(file) --confirm \(account)"
        : "revoke that first: kvsync hub revoke \(file) \(number)"
      throw InputError.usage(
        "\(file): this device has account \(account) at \(url) already, as number \(number); "
          + cure)
    } catch let error as KeepsakeError where error.code == .unauthorized {
      // The hub does not know the token any more.
    }
  }
}
