// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake

/// A type with hooks of its own.
struct Theme: BackingStoreConvertible, Hashable, Sendable {
  var name: String

  static func fromBackingStore(_ value: StoredValue) throws -> Theme {
    let name = try String.fromBackingStore(value)
    guard ["light", "dark"].contains(name) else {
      throw ValueError(.invalid, "no such theme; use light or dark")
    }
    return Theme(name: name)
  }

  func toBackingStore() -> StoredValue { .string(name) }
}

/// A type without hooks, for those given to one property.
struct Color: Hashable, Sendable {
  var red, green, blue: UInt8

  init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
    (self.red, self.green, self.blue) = (red, green, blue)
  }

  init?(hex: String) {
    guard hex.count == 7, hex.first == "#", let number = UInt32(hex.dropFirst(), radix: 16) else {
      return nil
    }
    self.init(UInt8(number >> 16), UInt8(number >> 8 & 0xff), UInt8(number & 0xff))
  }

  var hex: String {
    "#" + [red, green, blue].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

/// Every type that a setting can have: plain, optional, by a type's hooks, by a property's hooks.
final class EverySetting: UserDefaultsStore, @unchecked Sendable {
  @Setting var string = "guest"
  @Setting var boolean = false
  @Setting var integer = 1
  @Setting var int64: Int64 = 2
  @Setting var uint8: UInt8 = 3
  @Setting var double = 1.5
  @Setting var float: Float = 2.5
  @Setting var data = Data([1])
  @Setting var date = Date(timeIntervalSinceReferenceDate: 0)
  @Setting var url = URL(fileURLWithPath: "/")
  @Setting var array = ["a"]
  @Setting var nested = [[1]]
  @Setting var dictionary = ["a": 1]
  @Setting var theme = Theme(name: "light")
  @Setting(fromBackingStore: Color.init(hex:), toBackingStore: \.hex) var color = Color(0, 0, 255)

  @Setting var maybeString: String?
  @Setting var maybeBoolean: Bool?
  @Setting var maybeInteger: Int?
  @Setting var maybeDouble: Double?
  @Setting var maybeData: Data?
  @Setting var maybeDate: Date?
  @Setting var maybeURL: URL?
  @Setting var maybeArray: [String]?
  @Setting var maybeDictionary: [String: Int]?
  @Setting var maybeTheme: Theme?
  @Setting(fromBackingStore: Color.init(hex:), toBackingStore: \.hex) var maybeColor: Color?

  @Setting("nbr_logins") var loginCount = 0
  @Setting("nick") var nickname: String?
  let constant = Setting(default: "constant")
  let maybeConstant = Setting<Int?>(default: nil)
}
