// SPDX-License-Identifier: Apache-2.0
//
// The snippets of the module's article, to the letter; a project test compares them.

import Foundation
import Keepsake
import KeepsakeInjection
import KeepsakeTesting
import Testing

enum Theme: String, BackingStoreConvertible { case light, dark, sepia }

final class AppSettings: DeviceSettings, @unchecked Sendable {
  @Setting var username = "guest"
  @Setting var lastBackup: Date?
  @Setting var loginCount = 0
}
final class SharedSettings: SyncedSettings, @unchecked Sendable {
  @Setting var theme = Theme.light
  @Setting var volume = 5
}

final class Login: Sendable {
  let settings: AppSettings
  init(settings: AppSettings) { self.settings = settings }
  func run(as name: String) { settings.username = name }
}

func importThemeElsewhere(into settings: SharedSettings) {
  Thread.detachNewThread { settings.theme = .dark }
}

@Suite struct Article {
  let app = Container { c in
    c.register { _ in try Device(identifier: "org.example.reader") }
    c.register { c in try AppSettings(on: c.get()) }
    c.register { c in try SharedSettings(on: c.get()) }
    c.register(using: Login.init)
  }

  @Test func aNewUserIsAGuest() throws {
    let settings = try AppSettings(on: .inMemory())
    #expect(settings.username == "guest")
  }

  @Test func noSetterFailsInSilence() throws {
    let settings = try AppSettings(on: .inMemory())
    let failures = settings.failuresAreIssues()
    defer { failures.cancel() }
    settings.username = "ada"
  }

  @Test func loggingInIsRemembered() throws {
    let test = try app.forTest()
    let login: Login = try test.get()
    login.run(as: "ada")
    let settings: AppSettings = try test.get()
    #expect(settings.username == "ada")
  }

  @Test func aBackupIsDueAfterAWeek() throws {
    let clock = ManualClock()
    let settings = try AppSettings(on: .inMemory(clock: clock))
    settings.lastBackup = clock.now
    clock.advance(by: .seconds(8 * 86_400))
    let age = clock.now.timeIntervalSince(try #require(settings.lastBackup))
    #expect(age > 7 * 86_400)
  }

  @Test func changesAreNotifiedOnce() throws {
    let settings = try AppSettings(on: .inMemory())
    let recorder = ChangeRecorder(settings)
    settings.username = "ada"
    settings.username = "ada"
    #expect(recorder.changes(of: "username").map(\.new) == ["ada"])
    #expect(recorder.last?.reason == .local)
  }

  @Test func anImportIsHeardOf() async throws {
    let shared = try SharedSettings(on: .inMemory())
    let recorder = ChangeRecorder(shared)
    importThemeElsewhere(into: shared)
    #expect(try await recorder.next("theme").new == "dark")
  }

  @Test func theLaterThemeWins() throws {
    let devices = try SimulatedDevices(count: 3, seed: 42)
    let settings = try devices.map { try SharedSettings(on: $0) }
    settings[0].theme = .dark
    settings[1].theme = .sepia
    let report = try devices.merge(0, 1)
    #expect(report.hasConverged)
    #expect(settings[0].theme == .sepia)
    try devices.settle()
    #expect(settings[2].theme == .sepia)
  }

  @Test func aFastClockDoesNotWinForEver() throws {
    let devices = try SimulatedDevices(count: 2)
    let settings = try devices.map { try SharedSettings(on: $0) }
    devices.clocks[1].advance(by: .seconds(86_400))
    settings[1].theme = .sepia
    try devices.merge(0, 1)
    #expect(settings[0].theme == .light)  // a write from the future waits
    devices.advance(by: .seconds(86_400))
    try devices.settle()
    #expect(settings[0].theme == .sepia)
  }

  @Test func copiesRestoresAndCrashesLoseNothingThatTravelled() throws {
    let devices = try SimulatedDevices(count: 2)
    try SharedSettings(on: devices[0]).volume = 7
    let twin = try devices.copy(0)
    let old = try devices.snapshot(0)
    try SharedSettings(on: devices[0]).theme = .dark
    try devices.mergeAll()
    try devices.restore(0, to: old)
    try devices.crash(1)
    try devices.settle()
    let settings = try SharedSettings(on: devices[0])
    #expect(settings.theme == .dark && settings.volume == 7)
    #expect(try devices[twin].replica() != devices[0].replica())
  }

  struct PowerButton: Error {}

  @Test func aCrashTakesHalfATransactionBack() throws {
    let devices = try SimulatedDevices(count: 1)
    let settings = try AppSettings(on: devices[0])
    settings.username = "ada"
    #expect(throws: PowerButton.self) {
      try settings.transaction {
        settings.username = "bob"
        try devices.crash(0)
        throw PowerButton()
      }
    }
    #expect(try AppSettings(on: devices[0]).username == "ada")
  }

  @Test func aFullDiskDoesNotStopALogin() throws {
    let settings = try AppSettings(on: .inMemory())
    try settings.device.whileWritesFail { settings.username = "ada" }
    #expect(settings.username == "guest")
    #expect(settings.failures.count == 1)
  }
}
