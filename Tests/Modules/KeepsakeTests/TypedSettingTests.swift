// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import SettingsFixture
import TestSupport
import Testing

@Suite struct TypedSettingTests {
  @Test(arguments: Samples.all)
  func aPropertyGivesItsDefaultThenWhatWasSetToEveryInstance(sample: Sample) throws {
    let device = try Device.temporary()
    let first = try EverySetting(on: device)
    let second = try EverySetting(on: device)
    #expect(sample.read(first) == sample.fallback)
    sample.assign(first)
    #expect(sample.read(first) == sample.assigned)
    #expect(sample.read(second) == sample.assigned)
    #expect(sample.read(try EverySetting(on: device)) == sample.assigned)
    #expect(first.failures.isEmpty && second.failures.isEmpty)
    for other in Samples.all where other.name != sample.name {
      #expect(other.read(second) == other.fallback)
    }
  }

  @Test func anotherProcessReadsWhatWasSetAsSoonAsTheSetterReturns() throws {
    let device = try Device.temporary()
    let settings = try EverySetting(on: device)
    for sample in Samples.all {
      sample.assign(settings)
    }
    // The device is still open here: what the other process sees is what is in the log by now.
    let probe = try Command.runProbe(["settings", "print", device.path])
    let lines = Samples.all.map { "\($0.name)\t\($0.assigned.debugDescription)\n" }.joined()
    #expect(probe.stdout == lines)
    #expect(probe.stderr == "" && probe.code == 0)
  }

  @Test func aDeclaredKeyIsUsedInPlaceOfTheName() throws {
    let settings = try EverySetting(on: .inMemory())
    settings.loginCount = 3
    settings.nickname = "n"
    #expect(settings["nbr_logins"] == 3)
    #expect(settings["nick"] == "n")
    #expect(settings["loginCount"] == nil)
    #expect(try settings.$loginCount.key() == "nbr_logins")
  }

  @Test func settingsUsedInAnUpdateJoinIt() throws {
    let settings = try EverySetting(on: .temporary())
    let heard = ChangeRecorder(settings)
    try settings.$loginCount.update {
      settings.integer = 10
      $0 += settings.integer
    }
    #expect(settings.loginCount == 10 && settings.integer == 10)
    #expect(heard.sets.map { $0.map(\.key) } == [["integer", "nbr_logins"]])
    struct Refused: Error {}
    #expect(throws: Refused.self) {
      try settings.$loginCount.update {
        $0 = 5
        settings.integer = 20
        try settings.$string.update { $0 += "!" }
        throw Refused()
      }
    }
    #expect(settings.loginCount == 10 && settings.integer == 10 && settings.string == "guest")
    #expect(heard.sets.count == 1)
    #expect(settings.failures.isEmpty)
  }

  @Test func twoPropertiesWithOneKeyAreRefused() throws {
    final class Twice: UserDefaultsStore, @unchecked Sendable {
      @Setting("k") var a = 1
      @Setting("k") var b = 2
    }
    #expect(throws: SettingDeclarationError.self) { try Twice(on: .inMemory()) }
  }

  @Test func aSettingOutsideOfAStoreTrapsInDebugBuilds() async {
    #if DEBUG
      await #expect(processExitsWith: .failure) { _ = Setting(wrappedValue: 1).wrappedValue }
      await #expect(processExitsWith: .failure) { Setting(wrappedValue: 1).wrappedValue = 2 }
      await #expect(processExitsWith: .failure) { Setting(wrappedValue: 1).wrappedValue += 2 }
    #else
      let setting = Setting(wrappedValue: 1)
      setting.wrappedValue = 2
      #expect(setting.wrappedValue == 1)
    #endif
  }

  @Test func aSettingOutsideOfAStoreThrowsInsteadOfLosingTheValue() {
    let setting = Setting(wrappedValue: 1)
    #expect(throws: SettingDeclarationError.self) { try setting.write(2) }
    #expect(throws: SettingDeclarationError.self) { try setting.read() }
  }
}
