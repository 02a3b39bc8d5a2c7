// SPDX-License-Identifier: Apache-2.0

import Configuration
import ConfigurationKeepsake
import Keepsake

/// What may change while the server runs. The environment wins: `SERVER_GREETING`, `SERVER_PORT`.
final class ServerSettings: UserDefaultsStore, @unchecked Sendable {
  @Setting var greeting = "Hello"
  @Setting var name = "world"
  /// Read once, when the server starts.
  @Setting var port = 8080

  convenience init(on device: Device) throws {
    let environment = EnvironmentVariablesProvider().prefixKeys(with: "server")
    try self.init(on: device, layers: [.managed(by: [environment])])
  }
}
