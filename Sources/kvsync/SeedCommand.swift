// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Keepsake
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeSettingsBundle
import KeepsakeValues

struct SeedCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "seed",
    abstract: "Uses the defaults of a Settings bundle as the defaults of a store.",
    discussion: """
      Replaces what the same bundle declared before; touches nothing that was set. Creates the \
      file if it is missing.

        kvsync seed phone.keepsake Settings.bundle
      """)

  @Argument(help: "The device file.", completion: .file()) var file: String
  @Argument(help: "A Settings.bundle, or a property list.", completion: .file()) var path: String
  @Option(help: "The store. (default: defaults, or defaults:<group> if the bundle names one)")
  var store: String?
  @Flag(help: "Warn of what is wrong, and keep what can be kept, instead of refusing the bundle.")
  var lenient = false
  @Option(help: "The device whose files count, such as Root~ipad.plist for a pad. (default: none)")
  var idiom: PlistCommand.Idiom?
  @OptionGroup var common: CommonOptions

  func run() throws {
    try checkStore(store, of: file)
    let bundle = try SettingsBundle(
      at: path, mode: lenient ? .lenient : .strict, idiom: idiom?.idiom)
    let suite = StoreName.defaults(suite: bundle.suite)
    _ = try common.writing(to: file) { try $0.seed(store: store ?? suite, from: bundle) }
    if !common.json {
      common.output.warn(bundle.warnings.map { bundle.shownPath("\($0)") })
    }
    common.output.print(
      .object([
        "seeded": .integer(Int64(bundle.seeds.count)), "panes": .integer(Int64(bundle.paneCount)),
        "warnings": .array(bundle.warnings.map(Self.json)),
      ]),
      lines: [
        "\(counted(bundle.seeds.count, "default")) from \(counted(bundle.paneCount, "pane"))"
      ], isData: false)
  }

  private static func json(_ warning: PropertyListError) -> JSON {
    .object(JSON.place(of: warning) + [JSON.Member("message", .string(warning.message))])
  }
}
