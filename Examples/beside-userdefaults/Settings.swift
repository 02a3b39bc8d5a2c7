// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keepsake

/// What both can do; `synchronize` is what makes a set survive the process.
protocol Settings {
  func set(_ value: Int, forKey key: String)
  func integer(forKey key: String) -> Int
  func addOne(toKey key: String) throws
  func synchronize() -> Bool
}

extension UserDefaults: Settings {
  func addOne(toKey key: String) { set(integer(forKey: key) + 1, forKey: key) }
}

struct Keepsake: Settings {
  let store: UserDefaultsStore

  init(path: String) throws {
    store = try UserDefaultsStore(on: Device(path: path), arguments: .none)
  }

  func set(_ value: Int, forKey key: String) { store.set(value, forKey: key) }
  func integer(forKey key: String) -> Int { store.integer(forKey: key) }
  func addOne(toKey key: String) throws {
    try store.setting(SettingKey(key, default: 0)).increment()
  }
  /// A set survives the process when it returns.
  func synchronize() -> Bool { true }
}
