// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import KeepsakeInjection
import TestSupport
import Testing

extension Container.Key where Value == Device {
  static var archive: Self { Self("archive") }
}

@Suite struct GuaranteesArticle {
  final class AppSettings: DeviceSettings, @unchecked Sendable {
    @Setting var username = "guest"
    @Setting var count: UInt64 = 0
  }

  private let settings: AppSettings

  init() throws { settings = try AppSettings(on: .inMemory(), arguments: .none) }

  @Test func anEqualSetAnnouncesNothing() throws {
    let log = ArticleLog()
    let observation = settings.observe { log.add($0) }
    settings.username = "guest"  // the default, and now set
    settings.username = "guest"
    #expect(log.changes.count == 1)
    observation.cancel()
  }

  @Test func textComparesByItsBytesAndNumbersHaveTheirLimits() throws {
    settings["\u{e9}"] = 1
    #expect(settings["e\u{301}"] == nil)
    #expect(throws: SettingFailure.self) { try settings.$count.write(.max) }  // a UInt64
    #expect(throws: KeepsakeError.self) { try settings.write("x", for: "") }
    settings["nul"] = "a\0b"
    settings["k\0"] = .real(.nan)
    #expect(settings["nul"] == "a\0b" && settings["k\0"] == .real(.nan) && settings["k"] == nil)
    settings["negative"] = .real(-0.0)
    #expect(settings["negative"] == .real(0))
    #expect(settings.failures.isEmpty)
  }

  @Test func aURLKeepsItsSchemeAndItsHost() throws {
    let url = try #require(URL(string: "https://example.org/a"))
    settings.set(url, forKey: "home")
    #expect(settings.url(forKey: "home") == url && settings["home"] == "https://example.org/a")
  }

  @Test func devicesHaveNames() throws {
    let app = Container { c in
      c.register(primary: true) { _ in try Device.inMemory() }
      c.register(.archive) { _ in try Device.inMemory() }
      c.register { c in try AppSettings(on: c.get(.archive)) }
    }
    let (settings, device): (AppSettings, Device) = (try app.get(), try app.get())
    #expect(try settings.device === app.get(.archive) && settings.device !== device)
  }
}
