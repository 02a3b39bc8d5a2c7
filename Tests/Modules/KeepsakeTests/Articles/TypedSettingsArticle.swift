// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import TestSupport
import Testing

extension SettingKey where Value == Int {
  static var letterSize: Self { Self("letter_size", default: 12) }
}

@Suite struct TypedSettingsArticle {
  enum Theme: String { case light, dark }

  final class AppSettings: DeviceSettings, @unchecked Sendable {
    @Setting var username = "guest"  // stored under "username"
    @Setting("nbr_logins") var loginCount = 0  // under another key
    @Setting var nickname: String?  // nil: there is no value
    @Setting var tags: Set<String> = []
    @Setting(by: .rawValue) var theme = Theme.light  // by a transformer
  }

  final class Keyed: DeviceSettings, @unchecked Sendable {
    @Setting(.letterSize) var letterSize: Int
    @Setting("letter_count") var letterCount = 0
  }

  final class Dated: DeviceSettings, @unchecked Sendable {
    @Setting(default: { Date() }) var installed: Date
  }

  struct Preferences: Codable, Equatable {
    var name = "guest"
    var volume = 5
    var nickname: String?
  }

  final class SharedSettings: SyncedSettings, @unchecked Sendable {
    @Setting(fields: "prefs.") var prefs = Preferences()  // prefs.name, prefs.volume, …
  }

  private let settings: AppSettings

  init() throws { settings = try AppSettings(on: .inMemory(), arguments: .none) }

  @Test func aSettingDoesMoreThanItsProperty() throws {
    settings.username = "bob"
    let name = try settings.$username.read()  // throws where the property gives its default
    try settings.$username.write("ada")  // throws where the property only reports
    try settings.$username.reset()  // removes what was set
    #expect(try settings.$username.isDefault)
    #expect(name == "bob" && settings.username == "guest")
    #expect(settings.theme == .light && settings.tags == [])
  }

  @Test func stepsAreAtomic() throws {
    try settings.$loginCount.update { $0 += 1 }
    try settings.$loginCount.increment()
    #expect(settings.loginCount == 2)
  }

  @Test func eachMemberHasItsOwnLastWriter() throws {
    let (phone, laptop) = (try Device.inMemory(), try Device.inMemory())
    let (here, there) = (try SharedSettings(on: phone), try SharedSettings(on: laptop))
    here.prefs.volume = 9  // writes prefs.volume alone
    there.prefs.name = "ada"
    try phone.merge(with: laptop)
    #expect(here.prefs == Preferences(name: "ada", volume: 9))
    #expect(there["prefs.volume"] == 9 && there.prefs == here.prefs)
  }

  @Test func aDefaultIsComputed() throws {
    let settings = try Dated(on: settings.device, arguments: .none)
    let before = Date()
    #expect(settings.installed >= before)
    try settings.$installed.write(settings.installed)
    #expect(settings.installed == settings.installed)
  }

  @Test func anyKeyIsThere() throws {
    settings["editor.size"] = 9
    settings["editor.fonts"] = ["mono", "serif"]
    try settings.update("editor.size") { $0 = 10 }
    #expect(settings["editor.size"] == 10)
  }

  @Test func aKeyDeclaresASetting() throws {
    settings[.letterSize] += 2  // in any store
    let letterSize = try settings.setting(.letterSize)  // a Setting, with its operations
    try letterSize.increment()
    #expect(try settings["letter_size"] == 15 && Keyed(on: settings.device).letterSize == 15)
  }

  @Test func aClassIsComparedWithItsBundle() throws {
    let small = try SmallBundle("letter_size", default: 14)
    let bundle = try SettingsBundle(at: small.url)
    let settings = try Keyed(on: .inMemory())
    #expect(settings.differences(from: bundle).map(\.key) == ["letter_count"])
  }

  @Test func failuresAreHeard() {
    let log = ArticleLog()
    settings["nbr_logins"] = "many"
    #expect(settings.loginCount == 0)
    let token = settings.observeFailures { log.add("\($0)") }
    #expect(log.lines.count == 1)
    token.cancel()
  }

  @Test func aValueThatCannotBeReadGivesTheDefault() throws {
    settings["nbr_logins"] = "many"
    #expect(settings.loginCount == 0)
    #expect(settings.failures.map(\.storedType) == [.string])
    #expect(throws: SettingFailure.self) { try settings.$loginCount.read() }
    #expect(throws: SettingFailure.self) { try settings.$loginCount.update { $0 += 1 } }
    #expect(try settings.$loginCount.explain().problem != nil)
    #expect(settings["nbr_logins"] == "many")
  }
}
