// SPDX-License-Identifier: Apache-2.0

import Configuration
import ConfigurationKeepsake
import Keepsake

/// What may change while the server runs.
final class ServerSettings: UserDefaultsStore, @unchecked Sendable {
  @Setting var greeting = "Hello"
  @Setting var name = "world"
  /// Read once, when the server starts.
  @Setting var port = 8080
}

/// The settings below the environment, which wins: `SERVER_GREETING`, `SERVER_PORT`.
struct ServerConfiguration: Sendable {
  let settings: ServerSettings
  private let environment: ConfigReader
  private let everything: ConfigReader

  init(_ settings: ServerSettings) throws {
    let variables = EnvironmentVariablesProvider().prefixKeys(with: "server")
    self.settings = settings
    environment = ConfigReader(provider: variables)
    everything = ConfigReader(providers: [variables, try KeepsakeProvider(settings)])
  }

  /// From the file as it is now, whoever has written to it.
  func text(_ key: String) async throws -> String {
    try await everything.fetchRequiredString(forKey: ConfigKey(key))
  }

  func port() async throws -> Int { try await everything.fetchRequiredInt(forKey: "port") }

  /// Whether the environment has a value, so that setting another has no effect.
  func isManaged(_ key: String) -> Bool { environment.string(forKey: ConfigKey(key)) != nil }
}
