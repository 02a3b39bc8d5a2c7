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
    #expect(first.errors.isEmpty && second.errors.isEmpty)
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

  @Test func thisProcessReadsWhatAnotherOneSetWhileBothHaveTheFileOpen() throws {
    let device = try Device.temporary()
    let settings = try EverySetting(on: device)
    #expect(settings.integer == 1)
    for value in 2...4 {
      let set = try Command.run(
        Command.built("kvsync").get(),
        ["set", device.path, "integer", "\(value)", "--type", "integer", "--store", "defaults"])
      #expect(set.code == 0, "\(set.stderr)")
      #expect(settings.integer == value)
    }
  }

  @Test func settingNilRemovesTheKeyAndUncoversTheDefault() throws {
    let settings = try EverySetting(on: .inMemory())
    settings.maybeString = "x"
    settings.maybeString = nil
    #expect(settings.maybeString == nil)
    #expect(settings["maybeString"] == nil)
    settings.string = "x"
    try settings.$string.reset()
    #expect(settings.string == "guest")
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

  @Test func aValueThatDoesNotDecodeGivesTheDefaultIsReportedOnceAndStays() throws {
    let settings = try EverySetting(on: .inMemory())
    settings["theme"] = "purple"
    settings["integer"] = "text"
    for _ in 0..<3 {
      #expect(settings.theme.name == "light")
      #expect(settings.integer == 1)
    }
    #expect(settings.errors.map(\.key) == ["theme", "integer"])
    #expect(settings.errors.allSatisfy { $0.operation == .read })
    #expect(settings["theme"] == "purple")
    #expect(throws: SettingFailure.self) { try settings.$theme.read() }
    #expect(throws: SettingFailure.self) { try settings.$integer.read() }
    settings["theme"] = "green"
    #expect(settings.theme.name == "light")
    #expect(settings.errors.count == 3)
  }

  @Test func aSetterThatFailsLeavesTheValueAndIsReported() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/device.keepsake"
    _ = try Device(path: path)
    let settings = try EverySetting(on: Device(path: path, access: .readOnly))
    settings.string = "x"
    #expect(settings.string == "guest")
    #expect(settings.errors.map(\.operation) == [.write])
    #expect(throws: KeepsakeError.self) { try settings.$string.write("x") }
    settings["raw"] = 1
    #expect(settings.errors.count == 2)
  }

  @Test func updateIsAtomicAcrossThreads() async throws {
    let device = try Device.temporary()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          do {
            let settings = try EverySetting(on: device)
            for _ in 0..<25 { try settings.$loginCount.update { $0 += 1 } }
          } catch {
            Issue.record(error)
          }
        }
      }
    }
    #expect(try EverySetting(on: device).loginCount == 200)
  }

  @Test func anUpdateThatThrowsWritesNothing() throws {
    let settings = try EverySetting(on: .inMemory())
    struct Refused: Error {}
    #expect(throws: Refused.self) {
      try settings.$loginCount.update {
        $0 = 5
        throw Refused()
      }
    }
    #expect(settings.loginCount == 0)
  }

  @Test func settingsUsedInAnUpdateJoinIt() throws {
    let settings = try EverySetting(on: .temporary())
    let heard = Heard()
    let observation = settings.observe { heard.append($0) }
    try settings.$loginCount.update {
      settings.integer = 10
      $0 += settings.integer
    }
    #expect(settings.loginCount == 10 && settings.integer == 10)
    #expect(heard.sets.map { $0.map(\.key) } == [["integer", "nbr_logins"]])
    struct Refused: Error {}
    #expect(throws: Refused.self) {
      try settings.$loginCount.update { _ in
        settings.integer = 20
        try settings.$string.update { $0 += "!" }
        throw Refused()
      }
    }
    #expect(settings.integer == 10 && settings.string == "guest")
    #expect(heard.sets.count == 1)
    #expect(settings.errors.isEmpty)
    observation.cancel()
  }

  @Test func aWriteIntoAFileThatWasDeletedOrReplacedIsReported() throws {
    for replacement in [false, true] {
      let folder = try TemporaryFolder()
      let path = folder.path + "/device.keepsake"
      let settings = try EverySetting(on: Device(path: path))
      settings.string = "before"
      #expect(try Command.run(Command.find("mv"), [path, path + ".away"]).code == 0)
      if replacement {
        #expect(try Command.run(Command.find("cp"), [path + ".away", path]).code == 0)
      }
      settings.string = "after"
      #expect(settings.errors.map(\.operation) == [.write])
      #expect(throws: KeepsakeError.self) { try settings.$string.write("after") }
    }
  }

  @Test func inheritedSettingsAreBoundToo() throws {
    class Base: UserDefaultsStore, @unchecked Sendable { @Setting var inherited = 1 }
    final class Derived: Base, @unchecked Sendable { @Setting var own = 2 }
    let settings = try Derived(on: .inMemory())
    settings.inherited = 10
    settings.own = 20
    #expect(settings["inherited"] == 10 && settings["own"] == 20)
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
