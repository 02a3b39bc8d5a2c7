// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeFormats
import KeepsakeSync
import KeepsakeValues

struct PeersCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "peers",
    abstract: "Lists the devices that this one has met, or retires one.",
    discussion: """
      `read` counts what this device has read of the other, `acknowledged` what the other has read \
      of this one. A deletion is kept until all that are not retired have acknowledged it. A \
      retired device may come back: it still gets the deletions that it has missed.

        kvsync peers laptop.keepsake
        kvsync peers laptop.keepsake retire 5f0c3a9d8e7b6c21
      """)

  @Argument(help: "The device file.", completion: .file()) var file: String
  @Argument(help: ArgumentHelp("retire NAME: no longer wait for a device.", valueName: "action"))
  var action: [String] = []
  @OptionGroup var common: CommonOptions

  func validate() throws {
    guard action.isEmpty || action.count == 2 && action[0] == "retire" else {
      throw ValidationError("after the file comes nothing, or: retire NAME")
    }
  }

  func run() throws {
    guard action.isEmpty else { return try retire(action[1]) }
    let device = try common.open(file, .readOnly)
    let peers = try device.peers()
    try common.output.print(
      .object([
        "replica": .string(try device.replica().description),
        "peers": .array(peers.map { .object(Shown.peer($0)) }),
      ]),
      lines: peers.map { Line(Self.line($0)) }, isData: true)
  }

  private func retire(_ name: String) throws {
    let device = try common.open(file, .existing)
    guard let peer = try device.peers().first(where: { $0.id.description == name.lowercased() })
    else {
      throw InputError.usage(
        "\(file): it has met no device \(name); see kvsync peers for those it has met")
    }
    try device.retire(peer.id)
    common.output.print(
      .object(["retired": .string(peer.id.description)]), lines: ["\(peer.id) is retired"],
      isData: false)
  }

  private static func line(_ peer: Device.Peer) -> String {
    let stores = peer.stores.map {
      "\(Shown.name($0.store)): read \($0.read), acknowledged \($0.acknowledged)"
    }
    let state = peer.isRetired ? ["retired"] : []
    return (["\(peer.id)", "met \(Shown.text(peer.lastMet))"] + state + stores)
      .joined(separator: "\t")
  }
}
