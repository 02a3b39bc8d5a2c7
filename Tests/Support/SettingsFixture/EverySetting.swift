// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import Keepsake

/// A type with hooks of its own.
package struct Theme: BackingStoreConvertible, Hashable, Sendable {
  package var name: String

  package init(name: String) {
    self.name = name
  }

  package static func fromBackingStore(_ value: StoredValue) throws -> Theme {
    let name = try String.fromBackingStore(value)
    guard ["light", "dark"].contains(name) else {
      throw ValueError(.invalid, "no such theme; use light or dark")
    }
    return Theme(name: name)
  }

  package func toBackingStore() -> StoredValue { .string(name) }
}

/// A type without hooks, for those given to one property.
package struct Color: Hashable, Sendable {
  package var red, green, blue: UInt8

  package init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
    (self.red, self.green, self.blue) = (red, green, blue)
  }

  package init?(hex: String) {
    guard hex.count == 7, hex.first == "#", let number = UInt32(hex.dropFirst(), radix: 16) else {
      return nil
    }
    self.init(UInt8(number >> 16), UInt8(number >> 8 & 0xff), UInt8(number & 0xff))
  }

  package var hex: String {
    "#" + [red, green, blue].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

extension Transformer {
  package static var hexColor: Transformer<Color> {
    Transformer<Color>(fromBackingStore: Color.init(hex:), toBackingStore: \.hex)
  }
}

/// A type that is `Codable` and no more.
package struct Window: Codable, Hashable, Sendable {
  package var title: String
  package var opened: Date
  package var tabs: Set<Int>
  package var note: String?

  package init(title: String, opened: Date, tabs: Set<Int>) {
    (self.title, self.opened, self.tabs) = (title, opened, tabs)
  }
}

/// Every type that a setting can have: plain, optional, by a type's hooks, by a property's hooks.
package final class EverySetting: UserDefaultsStore, @unchecked Sendable {
  @Setting package var string = "guest"
  @Setting package var boolean = false
  @Setting package var integer = 1
  @Setting package var int64: Int64 = 2
  @Setting package var uint8: UInt8 = 3
  @Setting package var double = 1.5
  @Setting package var float: Float = 2.5
  @Setting package var data = Data([1])
  @Setting package var date = Date(timeIntervalSinceReferenceDate: 0)
  @Setting package var url = URL(fileURLWithPath: "/")
  @Setting package var array = ["a"]
  @Setting package var nested = [[1]]
  @Setting package var dictionary = ["a": 1]
  @Setting package var theme = Theme(name: "light")
  @Setting(fromBackingStore: Color.init(hex:), toBackingStore: \.hex) package var color = Color(
    0, 0, 255)

  @Setting package var id = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  @Setting package var price = Decimal(1)
  @Setting package var timeout = Duration.seconds(30)
  @Setting package var tags: Set<String> = []
  @Setting(by: .hexColor) package var accent = Color(0, 0, 255)
  @Setting(by: .hexColor.array()) package var palette: [Color] = []
  @Setting(by: .hexColor.set().dictionary()) package var themes: [String: Set<Color>] = [:]
  @Setting(by: .codable) package var window = Window(title: "", opened: .distantPast, tabs: [])

  @Setting package var maybeString: String?
  @Setting package var maybeBoolean: Bool?
  @Setting package var maybeInteger: Int?
  @Setting package var maybeDouble: Double?
  @Setting package var maybeData: Data?
  @Setting package var maybeDate: Date?
  @Setting package var maybeURL: URL?
  @Setting package var maybeArray: [String]?
  @Setting package var maybeDictionary: [String: Int]?
  @Setting package var maybeTheme: Theme?
  @Setting(fromBackingStore: Color.init(hex:), toBackingStore: \.hex) package var maybeColor: Color?
  @Setting package var maybeTags: Set<UUID>?
  @Setting(by: .hexColor) package var maybeAccent: Color?
  @Setting(by: .hexColor.array()) package var maybePalette: [Color]?
  @Setting(by: .codable) package var maybeWindow: Window?

  /// An inherited initialiser is internal, and other modules use this class.
  package init(on device: Device) throws {
    try super.init(on: device)
  }

  @Setting("nbr_logins") package var loginCount = 0
  @Setting("nick") package var nickname: String?
  package let constant = Setting(wrappedValue: "constant")
  package let maybeConstant = Setting<Int?>(wrappedValue: nil)
  package let constantPalette = Setting(wrappedValue: [Color(1, 1, 1)], by: .hexColor.array())
  package let maybeConstantPalette = Setting<[Color]?>(wrappedValue: nil, by: .hexColor.array())
}
