// SPDX-License-Identifier: Apache-2.0

import Keepsake
import KeepsakeInjection

enum Theme: String { case light, dark, sepia }

final class AppSettings: DeviceSettings, @unchecked Sendable {  // stays on this device
  @Setting var username = "nobody"
  @Setting("letter_size") var letterSize = 12
}
final class SharedSettings: SyncedSettings, @unchecked Sendable {  // syncs
  @Setting(fromBackingStore: Theme.init(rawValue:), toBackingStore: \.rawValue) var theme = .light
}

let container = Container { c in
  c.register { _ in try Device(path: "laptop.keepsake") }
  c.register { c in try AppSettings(on: c.get(), seededBy: SettingsBundle(at: "Settings.bundle")) }
  c.register { c in try SharedSettings(on: c.get()) }
}
let (app, shared): (AppSettings, SharedSettings) = try (container.get(), container.get())
print("\(app.username) reads letters of size \(app.letterSize)")
let observation = shared.observe { changes in
  for change in changes { print("\(change.key) is now \(shared.theme), by \(change.reason)") }
}
try shared.device.merge(with: Device(path: "phone.keepsake"))
observation.cancel()
