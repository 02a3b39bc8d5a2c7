// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import KeepsakeSync
import TestSupport
import Testing

private final class ExplainedSettings: UserDefaultsStore, @unchecked Sendable {
  @Setting var volume = 5
  @Setting var nickname: String?
  @Setting var big = UInt64.max
}

private final class Travelling: CloudKeyValueStore, @unchecked Sendable {
  @Setting var volume = 5
}

@Suite struct ExplainTests {
  private let clock = ManualClock(milliseconds: 1_763_632_800_000)
  private let device: Device

  init() throws {
    device = try Device.inMemory(clock: clock.wallClock)
  }

  private func settings(_ words: String...) throws -> ExplainedSettings {
    try ExplainedSettings(on: device, arguments: LaunchArguments(["program"] + words))
  }

  private func seed(_ bundle: String, _ value: StoredValue, _ place: String, suite: String? = nil)
    throws
  {
    try device.seed(
      store: suite.map { "defaults:\($0)" } ?? "defaults", bundle: bundle,
      [DefaultValue(key: "volume", value: value, source: place)])
  }

  @Test func everyLayerIsListedInOrderWithItsOrigin() throws {
    try seed("Old.bundle", 1, "Root.plist:7")
    try seed("New.bundle", 2, "Root.plist:8")
    try seed("Suite.bundle", 3, "Root.plist:9", suite: "s")
    let settings = try settings("-other", "1", "-volume", "9")
    settings.addSuite(named: "s")
    settings.register(defaults: ["volume": 4])
    try UserDefaultsStore(on: device, suite: "s", arguments: .none).set(6, forKey: "volume")
    clock.milliseconds += 1_500
    settings.volume = 7
    let explanation = try settings.$volume.explain()
    #expect(explanation.key == "volume" && explanation.store == "defaults")
    #expect(explanation.layers.map(\.value) == ["9", 7, 6, 4, 2, 1, 3, 5])
    #expect(explanation.inForce == explanation.layers.first && explanation.problem == nil)
    #expect(
      "\(explanation)" == """
        "volume" in "defaults": "9"
        * argument 3: "9"
          set: 7, 2025-11-20T10:00:01.500Z by this device
          suite "s", set: 6, 2025-11-20T10:00:00.000Z by this device
          registered: 4
          seed: 2, Root.plist:8 of New.bundle
          seed: 1, Root.plist:7 of Old.bundle
          suite "s", seed: 3, Root.plist:9 of Suite.bundle
          default of the property: 5
        """)
    #expect(try settings.explain("volume").layers == explanation.layers)
    guard case .entry(let write) = explanation.layers[1].source else {
      Issue.record("\(explanation.layers[1])")
      return
    }
    #expect(try write.device == device.replica() && write.isThisDevice)
    #expect(write.date == Date(timeIntervalSince1970: 1_763_632_801.5))
  }

  @Test func theSeedsOfTheBundleInUseComeFirst() throws {
    let folder = try TemporaryFolder()
    let file = folder.path + "/Root.plist"
    try """
    <plist version="1.0"><dict><key>volume</key>
    <integer>2</integer></dict></plist>
    """.write(toFile: file, atomically: true, encoding: .utf8)
    try seed("Other", 1, "Root.plist:7")
    let bundle = try SettingsBundle(at: file)
    let store = try ExplainedSettings(on: device, seededBy: bundle, arguments: .none)
    try seed("Later", 3, "Root.plist:9")
    let sources = try store.explain("volume").layers.map(\.source)
    #expect(
      sources == [
        .seed(suite: nil, bundle: bundle.identifier, place: "Root.plist:2"),
        .seed(suite: nil, bundle: "Other", place: "Root.plist:7"), .declared(problem: nil),
      ])
    #expect(store.volume == 2)
  }

  @Test func aKeyWithoutAnyValueHasNoLayers() throws {
    let explanation = try settings().explain("none")
    #expect(explanation.layers.isEmpty && explanation.inForce == nil)
    #expect("\(explanation)" == "\"none\" in \"defaults\": no value")
  }

  @Test func theDefaultOfAPropertyIsInForceAtTheEnd() throws {
    let settings = try settings()
    #expect(try settings.$volume.explain().inForce?.source == .declared(problem: nil))
    let nickname = try settings.$nickname.explain()
    #expect(nickname.inForce == nickname.layers[0] && nickname.inForce?.value == nil)
    #expect("\(nickname)".hasSuffix("\n* default of the property: no value"))
    guard case .declared(let problem?) = try settings.$big.explain().inForce?.source else {
      Issue.record("a default that cannot be stored is told")
      return
    }
    #expect(!problem.isEmpty)
  }

  @Test func aDeletionOfAnotherDeviceIsListedAndUncoversTheNextLayer() throws {
    let other = try Device.inMemory(clock: clock.wallClock)
    let theirs = try Travelling(on: other)
    theirs.volume = 1
    clock.milliseconds += 1
    theirs["volume"] = nil
    let ours = try Travelling(on: device)
    try device.merge(with: other)
    let explanation = try ours.$volume.explain()
    #expect(explanation.layers.map(\.value) == [nil, 5])
    #expect(explanation.inForce?.source == .declared(problem: nil))
    let line = "  deleted: 2025-11-20T10:00:00.001Z by device \(try other.replica())"
    #expect("\(explanation)".contains(line))
    guard case .entry(let write) = explanation.layers[0].source else {
      Issue.record("\(explanation)")
      return
    }
    #expect(try write.device == other.replica() && !write.isThisDevice)
    #expect(try ours.$volume.isDefault)
  }

  @Test func whyAValueCannotBeReadIsListed() throws {
    let settings = try settings()
    settings["volume"] = "loud"
    let explanation = try settings.$volume.explain()
    #expect(explanation.inForce?.value == "loud")
    let problem = try #require(explanation.problem)
    #expect(problem.contains("of type string, not integer"))
    #expect(
      "\(explanation)".hasSuffix(
        "\n  the setting returns its default, because it cannot read this value: \(problem)"))
    #expect(try settings.explain("volume").problem == nil)
    #expect(settings.failures.isEmpty)
  }

  @Test func anArgumentThatTheSettingReadsIsNoProblem() throws {
    #expect(try settings("-volume", "7").$volume.explain().problem == nil)
    #expect(try settings("-volume", "seven").$volume.explain().problem != nil)
  }

  @Test func aValueOfANewerVersionIsAValue() throws {
    let newer = StoredValue.opaque(OpaqueValue(TaggedCell(tag: 99, cell: .text("newer"))))
    try device.write([LocalWrite(store: "defaults", key: "volume", value: newer)])
    let settings = try settings()
    settings.register(defaults: ["volume": 4])
    let explanation = try settings.$volume.explain()
    #expect(explanation.inForce?.value == newer && explanation.problem != nil)
    #expect("\(explanation)".contains("* set: \"newer\", of a newer version, 2025"))
    #expect(try !settings.$volume.isDefault)
  }

  @Test func namesDoNotFakeALine() throws {
    let settings = try settings()
    settings["a\n* set: 9"] = 1
    let text = "\(try settings.explain("a\n* set: 9"))"
    #expect(text.split(separator: "\n").count == 2)
    #expect(text.hasPrefix(#""a\n* set: 9" in "defaults": 1"#))
  }

  @Test func explainingWritesNothingAndWorksOnAReader() throws {
    let shared = try Device.temporary()
    let writer = try ExplainedSettings(on: shared, arguments: .none)
    writer.volume = 7
    let reader = try ExplainedSettings(
      on: Device(path: shared.path, access: .readOnly), arguments: .none)
    #expect(try reader.$volume.explain() == writer.$volume.explain())
    try writer.transaction {
      writer.volume = 8
      let inForce = try writer.$volume.explain().inForce
      #expect(inForce?.value == 8)
    }
  }

  @Test func isDefaultTellsWhetherAnythingWasSet() throws {
    try seed("B", 2, "Root.plist:8")
    let settings = try settings()
    #expect(try settings.$volume.isDefault && settings.$nickname.isDefault)
    settings.register(defaults: ["volume": 4])
    #expect(try settings.$volume.isDefault)
    settings.volume = 4
    #expect(try !settings.$volume.isDefault)
    try settings.$volume.reset()
    #expect(try settings.$volume.isDefault)
    settings["volume"] = "unreadable"
    #expect(try !settings.$volume.isDefault)
    try settings.$volume.reset()
    settings.addSuite(named: "s")
    #expect(try settings.$volume.isDefault)
    try UserDefaultsStore(on: device, suite: "s", arguments: .none).set(1, forKey: "volume")
    #expect(try !settings.$volume.isDefault)
    #expect(try !self.settings("-nickname", "x").$nickname.isDefault)
    #expect(throws: SettingDeclarationError.self) { try Setting(wrappedValue: 1).isDefault }
    #expect(throws: SettingDeclarationError.self) { try Setting(wrappedValue: 1).explain() }
  }
}
