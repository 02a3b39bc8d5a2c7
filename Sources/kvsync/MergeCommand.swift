// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues

struct MergeCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "merge",
    abstract: "Merges device files: of each key the last write wins, everywhere.",
    discussion: """
      Merging again changes nothing. With more than two files each is merged into the first, then \
      the first into each. A hub takes part by its address, with one file.

        kvsync merge phone.keepsake laptop.keepsake
        kvsync merge phone.keepsake laptop.keepsake --dry-run
        kvsync merge /media/backup.keepsake laptop.keepsake --one-way
        kvsync merge phone.keepsake https://hub.example
      """)

  @Argument(help: "Two or more device files.", completion: .file()) var files: [String]
  @Flag(help: "Merge temporary copies, and tell what would change.") var dryRun = false
  @Flag(help: "Only into the last file; the others may be read-only.") var oneWay = false
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
  @Flag(help: "Make a missing file.") var create = false
  @Flag(help: "List every change, not only the first 1,000; a terminal gets 15.")
  var allChanges = false
  @OptionGroup var common: CommonOptions

  func validate() throws {
    guard files.count >= 2 else { throw ValidationError("name two or more files") }
  }

  func run() throws {
    for name in store { try StoreOption.check(name, files[0]) }
    var options = MergeOptions(
      stores: store.isEmpty ? nil : store, maximumClockSkew: maxClockSkew, isOneWay: oneWay,
      changeLimit: allChanges ? .max : 1000, checksIntegrity: !dryRun)
    let progress = MergeProgressLine(files)
    options.onProgress = { progress.show($0) }
    let shown = try merge(options)
    let limit = Terminal.showsOutput && !allChanges ? Output.screenful : .max
    try common.output.print(
      shown.json, lines: shown.lines(isDryRun: dryRun, limit: limit), isData: false)
  }

  private func merge(_ options: MergeOptions) throws -> ShownReport {
    let opening = MergeFiles(files, common: common, isOneWay: oneWay, creates: create)
    let shown = try report(opening, options)
    // The devices are closed by now.
    try opening.publish()
    return shown
  }

  private func report(_ opening: MergeFiles, _ options: MergeOptions) throws -> ShownReport {
    let copies = dryRun ? try TemporaryFolder() : nil
    do {
      let devices = try copies.map { try opening.copies(in: $0) } ?? opening.devices()
      let report = try Merge.run(devices, options: options)
      try opening.complete(devices)
      return ShownReport(report, paths: files, replicas: try devices.map { try $0.replica() })
    } catch let error as KeepsakeError {
      throw opening.renamed(error, copies)
    }
  }
}
