// SPDX-License-Identifier: Apache-2.0
//
// A store as a provider of swift-configuration. `StoreCopy` has what it gives.

#if Configuration
  public import Configuration
  public import Keepsake
  import KeepsakeValues

  /// Gives the settings of a store to a `ConfigReader` of swift-configuration.
  ///
  ///     let config = ConfigReader(providers: [
  ///       EnvironmentVariablesProvider(), try KeepsakeProvider(settings),
  ///     ])
  ///     let port = config.int(forKey: "http.port", default: 8080)
  ///
  /// It gives what is in force in the store, whatever layer has it, in the end the defaults of
  /// properties. All of it is in memory, and read again by the first look-up after a commit to the
  /// file: no other look-up reads it. A commit of whichever process is seen by the next look-up,
  /// all of it at once, and never in halves; within a transaction a look-up gives what was there
  /// before. What `register(defaults:)` and added suites change is announced with the next commit.
  ///
  /// No type is taken for another, but for a whole number where a decimal one is asked for. The
  /// text of a launch argument, and the value of a layer that leaves its type open, such as an
  /// environment variable, is given as whatever type a setting could read it as. What
  /// swift-configuration has no type for, such as a date, has a wrong type always. A look-up then
  /// throws `WrongType`; of the getters of a `ConfigReader` only those whose names begin with
  /// `required` or `fetch` do, the others give their default.
  public final class KeepsakeProvider: Sendable {
    /// A value of another type than was asked for. Neither its text nor the error has the value.
    public struct WrongType: Error, Sendable, Equatable, CustomStringConvertible {
      /// The provider's name.
      public let provider: String
      /// The key in the store.
      public let key: String
      /// The type of the stored value.
      public let stored: StoredValue.Kind
      /// The type that was asked for.
      public let asked: ConfigType

      /// One line: where, what is there, what was asked for, what to do.
      public var description: String {
        "\(provider): \"\(key)\" cannot be given as \(asked.rawValue): its type is "
          + "\(stored.rawValue); store another value, or ask for its type"
      }
    }

    /// `KeepsakeProvider` with the name that it was given, or that of the store.
    public let providerName: String
    private let copy: StoreCopy

    /// Reads the settings.
    ///
    /// - Parameters:
    ///   - store: is retained, and in memory once more.
    ///   - name: tells it from other providers.
    ///   - secrets: which values are secret, so that logs leave them out, besides those that a
    ///     layer of the store gives as secrets. It gets each key as the store has it, as in
    ///     `WrongType.key`.
    /// - Throws: `KeepsakeError` when the file cannot be read, and within a transaction.
    public init(
      _ store: SettingsStore, name: String? = nil,
      secrets: SecretsSpecifier<String, StoredValue> = .none
    ) throws(KeepsakeError) {
      let name = "KeepsakeProvider[\(name ?? store.storeName)]"
      providerName = name
      copy = try StoreCopy(store, Identity(name: name, secrets: secrets))
    }

    /// What a provider and its snapshots share.
    struct Identity: Sendable {
      let name: String
      let secrets: SecretsSpecifier<String, StoredValue>

      func result(
        _ found: Readings?, _ key: String, _ type: ConfigType
      ) throws -> LookupResult {
        guard let found else { return LookupResult(encodedKey: key, value: nil) }
        guard let content = found.content(as: type) else {
          throw WrongType(provider: name, key: key, stored: found.value.kind, asked: type)
        }
        let isSecret = found.isSecret || secrets.isSecret(key: key, value: found.value)
        return LookupResult(encodedKey: key, value: ConfigValue(content, isSecret: isSecret))
      }
    }
  }

  extension KeepsakeProvider: ConfigProvider {
    /// The present value, from memory unless it has changed.
    ///
    /// - Throws: `WrongType`.
    public func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
      try copy.present.value(forKey: key, type: type)
    }

    /// The value that the file has now.
    ///
    /// - Throws: also `KeepsakeError` when the file cannot be read.
    public func fetchValue(
      forKey key: AbsoluteConfigKey, type: ConfigType
    ) async throws -> LookupResult {
      try copy.read().value(forKey: key, type: type)
    }

    /// The present value first, then the newest after each change of it. The sequence ends when the
    /// task is cancelled.
    public func watchValue<Return: ~Copyable>(
      forKey key: AbsoluteConfigKey, type: ConfigType,
      updatesHandler: (
        _ updates: ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>
      ) async throws -> Return
    ) async throws -> Return {
      try await copy.watch(key, updatesHandler) { snapshot in
        Result { try snapshot.value(forKey: key, type: type) }
      }
    }

    /// All settings as they are now.
    public func snapshot() -> any ConfigSnapshot { copy.present }

    /// All settings as they are now, then as they are after each change. The sequence ends when the
    /// task is cancelled.
    public func watchSnapshot<Return: ~Copyable>(
      updatesHandler: (
        _ updates: ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>
      ) async throws -> Return
    ) async throws -> Return {
      try await copy.watch(nil, updatesHandler) { $0 }
    }
  }

  extension KeepsakeProvider: CustomStringConvertible, CustomDebugStringConvertible {
    /// Its name, and how many values it has; none of them.
    public var description: String { "\(copy.present)" }

    /// As `description`: a value may be a secret.
    public var debugDescription: String { description }
  }
#endif
