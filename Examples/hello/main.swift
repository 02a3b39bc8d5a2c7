// SPDX-License-Identifier: Apache-2.0

import Keepsake

final class AppSettings: DeviceSettings, @unchecked Sendable {
  @Setting var launches = 0
}

let settings = try AppSettings(on: Device(identifier: "org.example.hello"))
settings.launches += 1
print("Launch \(settings.launches), kept in \(settings.device.path)")
