// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake
import TestSupport
import Testing

/// A type that conforms to nothing of ours.
struct RGB: Hashable, Sendable {
  var red, green, blue: UInt8

  init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
    (self.red, self.green, self.blue) = (red, green, blue)
  }

  init?(hex: String) {
    guard hex.count == 7, let number = UInt32(hex.dropFirst(), radix: 16) else { return nil }
    self.init(UInt8(number >> 16), UInt8(number >> 8 & 0xff), UInt8(number & 0xff))
  }

  var hex: String {
    "#" + [red, green, blue].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

extension Transformer {
  static var hexCode: Transformer<RGB> {
    Transformer<RGB>(fromBackingStore: RGB.init(hex:), toBackingStore: \.hex)
  }
}

@Suite struct TransformersArticle {
  enum Theme: String, BackingStoreConvertible { case light, dark }

  struct Window: Codable, BackingStoreConvertible {
    var title = ""
    var tabs: [Int] = []
  }

  struct Percent: BackingStoreConvertible {
    var value: Int

    static func fromBackingStore(_ stored: StoredValue) throws -> Percent {
      Percent(value: try Int.fromBackingStore(stored))
    }
    func toBackingStore() throws -> StoredValue { try value.toBackingStore() }
  }

  final class AppSettings: DeviceSettings, @unchecked Sendable {
    @Setting var theme = Theme.light
    @Setting var window = Window()
    @Setting var zoom = Percent(value: 100)
    @Setting(by: .hexCode) var accent = RGB(0, 0, 255)
    @Setting(by: .hexCode) var tint: RGB?
    @Setting(by: .hexCode.array()) var palette: [RGB] = []
    @Setting(by: .hexCode.set().dictionary()) var themes: [String: Set<RGB>] = [:]
    @Setting(fromBackingStore: RGB.init(hex:), toBackingStore: \.hex) var border = RGB(0, 0, 0)
    @Setting var price = Decimal(0)
    @Setting var timeout = Duration.zero
    @Setting var tags: Set<String> = []
  }

  @Test func everythingIsReadableInTheShell() throws {
    let settings = try AppSettings(on: .temporary(), arguments: .none)
    settings.price = Decimal(1990) / 100
    settings.timeout = .milliseconds(1500)
    settings.tags = ["b", "a"]
    settings.palette = [RGB(255, 0, 0)]
    settings.window = Window(title: "Notes", tabs: [2, 10])
    let rows = "SELECT key, value FROM entry ORDER BY key"
    let ending = try Command.run(Command.find("sqlite3"), [settings.device.path, rows])
    #expect(
      ending.stdout == """
        palette|["#ff0000"]
        price|19.9
        tags|["a","b"]
        timeout|1.5
        window|{"tabs":[2,10],"title":"Notes"}

        """)
  }

  @Test func hooksAreEachOthersInverse() throws {
    let settings = try AppSettings(on: .inMemory(), arguments: .none)
    settings.theme = .dark
    settings.zoom.value = 50
    settings.accent = RGB(1, 2, 3)
    settings.tint = RGB(4, 5, 6)
    settings.themes = ["night": [RGB(0, 0, 0)]]
    settings.border = RGB(7, 8, 9)
    let again = try AppSettings(on: settings.device, arguments: .none)
    #expect(again.theme == .dark && again.zoom.value == 50 && again.accent == RGB(1, 2, 3))
    #expect(again.tint == RGB(4, 5, 6) && again.border == RGB(7, 8, 9))
    #expect(again.themes == ["night": [RGB(0, 0, 0)]])
    again.tint = nil
    #expect(settings["tint"] == nil && settings.tint == nil)
  }

  @Test func aHookThatThrowsLeavesTheBytes() throws {
    let settings = try AppSettings(on: .inMemory(), arguments: .none)
    settings["palette"] = ["#ff0000", "red"]
    #expect(settings.palette == [])
    #expect("\(settings.failures[0])".contains("at [1]: the stored value is not a RGB"))
    #expect(settings["palette"] == ["#ff0000", "red"])
  }
}
