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
    abstract: "Lists the devices that this one has synced with.",
    discussion: """
      `read` is the sequence number up to which this device has read the other, `sent` the one up \
      to which the other had read this device at the last sync.

        kvsync peers laptop.keepsake
      """)

  @Argument(help: "The device file.", completion: .file()) var file: String
  @OptionGroup var common: CommonOptions

  func run() throws {
    let device = try common.open(file, .readOnly)
    let peers = try device.peers()
    try common.output.print(
      .object([
        "replica": .string(try device.replica().description),
        "peers": .array(peers.map(Self.json)),
      ]),
      lines: peers.map { OutputLine(Self.line($0)) }, isData: true)
  }

  private static func json(_ peer: Device.Peer) -> JSON {
    let stores = peer.stores.map { progress in
      JSON.Member(
        progress.store,
        .object(["read": .integer(progress.read), "sent": .integer(progress.sent)]))
    }
    return .object([
      "peer": .string(peer.id.description), "synced": peer.lastSync.map(JSON.time) ?? .null,
      "stores": .object(stores),
    ])
  }

  private static func line(_ peer: Device.Peer) -> String {
    let stores = peer.stores.map { "\($0.store.quotedIfNeeded): read \($0.read), sent \($0.sent)" }
    let sync = peer.lastSync.map { "synced \($0.iso8601)" } ?? "read one way"
    return (["\(peer.id)", sync] + stores).joined(separator: "\t")
  }
}
