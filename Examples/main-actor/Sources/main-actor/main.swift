// SPDX-License-Identifier: Apache-2.0

import Keepsake

/// A store belongs to no actor, so its class is `nonisolated`. Swift does not allow property
/// wrappers there ("'nonisolated' cannot be applied to mutable stored properties"), so settings are
/// constants.
nonisolated final class AppSettings: UserDefaultsStore, @unchecked Sendable {
  let username = Setting(default: "guest")
  let volume = Setting(.volume)
}

nonisolated extension SettingKey where Value == Int {
  static var volume: Self { Self("volume", default: 5) }
}

/// On the main actor, like everything else here.
final class Screen {
  private let settings: AppSettings

  init(_ settings: AppSettings) { self.settings = settings }

  func louder() throws { try settings.volume.increment() }

  func show() {
    print("\(settings.username.wrappedValue) listens at \(settings.volume.wrappedValue)")
  }
}

let settings = try AppSettings(on: .inMemory())
let screen = Screen(settings)
screen.show()
settings.username.wrappedValue = "ada"
try screen.louder()
// Any thread may use settings.
_ = try await Task.detached { try settings.volume.increment() }.value
screen.show()
