// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeHub
import KeepsakeSync
import KeepsakeTransfer

/// `kvsync merge` with a hub.
struct MergeCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "merge",
    abstract: "Merges a device file with a hub: of each key the last write wins.",
    discussion: "  kvsync merge phone.keepsake https://hub.example")

  @Argument(help: "A device file and the address of a hub.", completion: .file())
  var files: [String]
  @Flag(help: .hidden) var dryRun = false
  @Flag(help: .hidden) var oneWay = false
  @Flag(help: .hidden) var create = false
  @Option(help: "Exactly this store (repeatable). (default: the synced ones)")
  var store: [String] = []
  @Option(
    help: ArgumentHelp(
      """
      How far ahead of the clock a timestamp may be before its entry is held. \
      \(Words.note(default: MergeOptions().maximumClockSkew))
      """),
    transform: Words.duration)
  var maxClockSkew = MergeOptions().maximumClockSkew
  @Flag(help: "List every change, not only the first 1,000; a terminal gets 15.")
  var allChanges = false
  @OptionGroup var common: CommonOptions

  func run() throws {
    guard files.count == 2, let address = files.first(where: HubURL.isMeant),
      let file = files.first(where: { !HubURL.isMeant(by: $0) })
    else {
      throw InputError.usage(
        "(command line): a hub is merged with one file; name a device file and an address")
    }
    let refused = [("--dry-run", dryRun), ("--one-way", oneWay), ("--create", create)]
    if let (option, _) = refused.first(where: \.1) {
      throw InputError.usage("\(address): \(option) is for files; merge with a hub without it")
    }
    for name in store { try StoreOption.check(name, file) }
    let hub = try Membership.hub(file, address)
    let paths = [file, hub.url.description]
    var options = MergeOptions(
      stores: store.isEmpty ? nil : store, maximumClockSkew: maxClockSkew,
      changeLimit: allChanges ? .max : 1000, checksIntegrity: true)
    let interruption = ProgressLine.begin("merge", common.output)
    defer { interruption?.end() }
    let progress = MergeProgressLine(paths)
    options.onProgress = { progress.show($0) }
    let device = try common.open(file, .existing)
    defer { Membership.noteMeeting(hub, file) }
    let report = try device.merge(with: hub, options: options)
    let shown = ShownReport(report, paths: paths, replicas: [try device.replica(), nil])
    let limit = Terminal.showsOutput && !allChanges ? Output.screenful : .max
    try common.output.print(
      shown.json, lines: shown.lines(isDryRun: false, limit: limit), isData: false)
  }
}
