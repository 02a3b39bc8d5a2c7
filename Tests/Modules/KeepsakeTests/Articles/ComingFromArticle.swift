// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import Testing

extension SettingKey where Value == Double {
  static var quality: Self { Self("quality", default: 0.8) }
}

@Suite struct ComingFromArticle {
  final class AppSettings: DeviceSettings, @unchecked Sendable {
    @Setting(.quality) var quality: Double
  }

  @Test func foundationsNamesAreThere() throws {
    let settings = try AppSettings(on: .inMemory(), arguments: .none)
    settings.register(defaults: ["volume": 5, "name": "guest"])
    settings.set(["ada", "bob"], forKey: "names")
    settings.set("12.9", forKey: "size")
    #expect(settings.integer(forKey: "volume") == 5)
    #expect(settings.integer(forKey: "size") == 12)  // converts as UserDefaults does
    #expect(settings.string(forKey: "volume") == "5")
    #expect(settings.stringArray(forKey: "names") == ["ada", "bob"])
    let names: [String]? = settings.array(forKey: "names")  // in place of a cast
    settings.removeObject(forKey: "names")
    #expect(names == ["ada", "bob"])
    #expect(settings.object(forKey: "names") == nil)
    settings.quality = 0.5
    #expect(try settings.setting(.quality).wrappedValue == 0.5)
  }

  @Test func valuesMoveIn() throws {
    let settings = try AppSettings(on: .inMemory(), arguments: .none)
    let old: [String: Any] = ["username": "ada", "vol": 7, "icon": URL(fileURLWithPath: "/icon")]
    let left = try settings.migrate(from: old, renaming: ["vol": "volume"])
    #expect(settings.string(forKey: "username") == "ada" && settings.integer(forKey: "volume") == 7)
    #expect(left == ["icon": "a URL is no value of a property list"])
  }
}
