// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import KeepsakeDevice
package import KeepsakeSync
import KeepsakeValues

/// The arguments and options of `merge`, with a hub and without.
package struct MergeArguments: ParsableArguments {
  package static let command = CommandConfiguration(
    commandName: "merge",
    abstract: "Merges device files: of each key the last write wins, everywhere.",
    discussion: """
      Merging again changes nothing. With more than two files each is merged into the first, then \
      the first into each. To merge one file with a hub, give the hub's address.

        kvsync merge phone.keepsake laptop.keepsake
        kvsync merge phone.keepsake laptop.keepsake --dry-run
        kvsync merge /media/backup.keepsake laptop.keepsake --one-way
        kvsync merge phone.keepsake https://hub.example
      """)

  @Argument(help: "Two or more device files.", completion: .file())
  package var files: [String]
  @Flag(help: "Merge temporary copies, and print what would change.")
  package var dryRun = false
  @Flag(help: "Only into the last file; the others may be read-only.")
  package var oneWay = false
  @Option(help: "Exactly this store (repeatable). (default: the synced ones)")
  package var store: [String] = []
  @Option(
    help: """
      How far ahead of the clock a timestamp may be; later entries are not read yet. (default: 5m)
      """,
    transform: ArgumentValue.duration)
  var maxClockSkew = MergeOptions().maximumClockSkew
  @Flag(help: "Create a missing file.")
  package var create = false
  @Flag(help: "List every change, not only the first 1,000; a terminal gets 15.")
  var allChanges = false

  package init() {}

  package func validate() throws {
    guard files.count >= 2 else { throw ValidationError("name two or more files") }
  }

  /// The arguments that are meant as addresses of hubs rather than as paths.
  package var hubs: [String] {
    files.filter { file in ["https://", "http://"].contains { file.lowercased().hasPrefix($0) } }
  }

  /// The options of the merge, which show its progress.
  ///
  /// - Parameter paths: the files and the hub, in the order of the report.
  package func options(_ paths: [String]) throws -> MergeOptions {
    for name in store { try checkStore(name, of: paths[0]) }
    var options = MergeOptions(
      stores: store.isEmpty ? nil : store, maximumClockSkew: maxClockSkew, isOneWay: oneWay,
      changeLimit: allChanges ? .max : 1000)
    options.onProgress = { ProgressLine.show($0, of: paths) }
    return options
  }

  /// Prints the report of a merge, even if it fails: then of what it had committed.
  ///
  /// - Parameter paths: the files and the hub, in the order of the report.
  package func print(
    _ paths: [String], _ output: Output, _ merge: () throws -> PrintableMergeReport
  ) throws {
    do {
      try print(merge(), output)
    } catch let error as KeepsakeError {
      if let report = error.mergeReport {
        let replicas: [ReplicaID?] = paths.map { _ in nil }
        try print(PrintableMergeReport(report, paths: paths, replicas: replicas), output)
      }
      throw error
    }
  }

  private func print(_ shown: PrintableMergeReport, _ output: Output) throws {
    let limit = Terminal.showsOutput && !allChanges ? Output.screenful : .max
    try output.print(
      shown.json, lines: shown.lines(isDryRun: dryRun, limit: limit), isData: false)
  }
}
