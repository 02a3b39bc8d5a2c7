// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Keepsake
import TestSupport
import Testing

@Suite struct LayersArticle {
  final class AppSettings: DeviceSettings, @unchecked Sendable {
    @Setting var username = "guest"
    @Setting var volume = 5
  }

  private let clock = ManualClock(milliseconds: 1_795_168_800_000)
  private let device: Device

  init() throws { device = try Device.inMemory(clock: clock) }

  @Test func removingUncoversTheLayerBelow() throws {
    let settings = try AppSettings(on: device, arguments: .none)
    settings.register(defaults: ["volume": 4])
    settings.volume = 7
    try settings.$volume.reset()
    #expect(settings.volume == 4)
  }

  @Test func everyLayerIsExplained() throws {
    let small = try SmallBundle("volume", default: 2)
    let bundle = try SettingsBundle(at: small.url)
    let settings = try AppSettings(
      on: device, seededBy: bundle, arguments: LaunchArguments(["reader", "-volume", "9"]))
    settings.addSuite(named: "shared")
    settings.register(defaults: ["volume": 4])
    try UserDefaultsStore(on: device, suite: "shared", arguments: .none).write(6, for: "volume")
    settings.volume = 7
    print(try settings.$volume.explain())
    #expect(
      try "\(settings.$volume.explain())" == """
        "volume" in "defaults": "9"
        * argument 1: "9"
          set: 7, 2026-11-20T10:00:00.000Z by this device
          suite "shared", set: 6, 2026-11-20T10:00:00.000Z by this device
          registered: 4
          seed: 2, Root.plist:3 of Settings.bundle
          default of the property: 5
        """)
    #expect(try !settings.$volume.isDefault)
  }

  @Test func argumentsWin() throws {
    let arguments = LaunchArguments(["reader", "-volume", "9", "-username", "ada"])
    let settings = try AppSettings(on: device, arguments: arguments)
    #expect(settings.volume == 9 && settings.username == "ada")
    settings.volume = 1
    #expect(try settings.volume == 9 && AppSettings(on: device, arguments: .none).volume == 1)
  }

  private struct Reader: ParsableCommand {
    @Option(name: .short) var output: String?
    @Argument var books: [String] = []
  }

  private enum CommandLine {
    static let arguments = ["reader", "-volume", "9", "-o", "file", "book", "-username", "ada"]
  }

  @Test func aParserGetsWhatRemains() throws {
    let arguments = LaunchArguments(CommandLine.arguments, keys: ["volume", "username"])
    let settings = try AppSettings(on: device, arguments: arguments)
    let command = try Reader.parse(arguments.remaining)
    #expect(settings.volume == 9 && settings.username == "ada")
    #expect(command.output == "file" && command.books == ["book"])
    #expect(throws: (any Error).self) { try Reader.parse(Array(CommandLine.arguments.dropFirst())) }
  }

  @Test func readsByKeySeeTheDefault() throws {
    final class Flags: UserDefaultsStore, @unchecked Sendable { @Setting var bool = true }
    let settings = try Flags(on: device, arguments: .none)
    #expect(settings.bool(forKey: "bool") && settings["bool"] == true)
  }

  @Test func aSuiteIsReadThrough() throws {
    let settings = try AppSettings(on: device, arguments: .none)
    try UserDefaultsStore(on: device, suite: "shared", arguments: .none).write(6, for: "volume")
    let log = ArticleLog()
    let observation = settings.observe { log.add($0) }
    settings.addSuite(named: "shared")
    #expect(settings.volume == 6)
    settings.removeSuite(named: "shared")
    #expect(settings.volume == 5 && log.changes.isEmpty)
    observation.cancel()
  }
}
