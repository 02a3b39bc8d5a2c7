// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeSync

struct MergeCommand: Subcommand {
  static let configuration = MergeWords.command

  @OptionGroup var words: MergeWords
  @OptionGroup var common: CommonOptions

  func run() throws {
    let opening = MergeFiles(
      words.files, common: common, isOneWay: words.oneWay, creates: words.create)
    let shown = try report(opening, words.options(words.files))
    // The devices are closed by now.
    try opening.publish()
    try words.print(shown, common.output)
  }

  private func report(_ opening: MergeFiles, _ options: MergeOptions) throws -> ShownReport {
    let copies = words.dryRun ? try TemporaryFolder() : nil
    do {
      let devices = try copies.map { try opening.copies(in: $0) } ?? opening.devices()
      let report = try Merge.run(devices, options: options)
      try opening.complete(devices)
      return ShownReport(
        report, paths: words.files, replicas: try devices.map { try $0.replica() })
    } catch let error as KeepsakeError {
      throw opening.renamed(error, copies)
    }
  }
}
