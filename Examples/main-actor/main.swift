// SPDX-License-Identifier: Apache-2.0

import Keepsake

/// Belongs to no actor, though everything here is on the main actor by default: `DeviceSettings`
/// keeps it off.
final class AppSettings: DeviceSettings, @unchecked Sendable {
  @Setting var username = "guest"
  @Setting(.volume) var volume: Int
  @Setting(fields: "window.") var window = Window()
}

nonisolated struct Window: Codable { var width = 80, height = 25 }

nonisolated extension SettingKey where Value == Int {
  static var volume: Self { Self("volume", default: 5) }
}

/// On the main actor, like everything else here.
final class Screen {
  private let settings: AppSettings

  init(_ settings: AppSettings) { self.settings = settings }

  func louder() throws { try settings.$volume.increment() }

  func show() { print("\(settings.username) listens at \(settings.volume)") }
}

let settings = try AppSettings(on: .inMemory())
let screen = Screen(settings)
screen.show()
settings.username = "ada"
try screen.louder()
settings.window.width += 20
// Any thread may use settings.
_ = try await Task.detached { try settings.$volume.increment() }.value
screen.show()
