// SPDX-License-Identifier: Apache-2.0
//
// A store as a provider of swift-configuration. `StoreCopy` holds the values.

#if Configuration
  public import Configuration
  public import Keepsake
  import KeepsakeValues

  /// Provides the settings of a store to a `ConfigReader` of swift-configuration.
  ///
  ///     let config = ConfigReader(providers: [
  ///       EnvironmentVariablesProvider(), try KeepsakeProvider(settings),
  ///     ])
  ///     let port = config.int(forKey: "http.port", default: 8080)
  ///
  /// A look-up returns the store's effective value, from any layer, including the defaults of
  /// properties. All values are in memory; only the first look-up after a commit to the file reads
  /// the file. The next look-up sees a commit of any process, always all of it. Within a
  /// transaction a look-up returns the values from before it. Watchers learn of changes by
  /// `register(defaults:)` and added suites with the next commit.
  ///
  /// Types are not converted, except an integer to a Double. The text of a launch argument, and the
  /// value of a layer without types, such as an environment variable, can be looked up as each type
  /// that a setting could read it as. A value that swift-configuration has no type for, such as a
  /// date, always has a wrong type. For a wrong type a look-up throws `WrongType`. The getters of a
  /// `ConfigReader` whose names begin with `required` or `fetch` throw it too; the others return
  /// their default.
  public final class KeepsakeProvider: Sendable {
    /// The stored value has another type than the requested one. The error has no value in it.
    public struct WrongType: Error, Sendable, Equatable, CustomStringConvertible {
      /// The provider's name.
      public let provider: String
      /// The key in the store.
      public let key: String
      /// The type of the stored value.
      public let stored: StoredValue.Kind
      /// The requested type.
      public let asked: ConfigType

      /// One line: the provider, the key, both types, and the fix.
      public var description: String {
        "\(provider): \"\(key)\" cannot be given as \(asked.rawValue): its type is "
          + "\(stored.rawValue); store another value, or ask for its type"
      }
    }

    /// `KeepsakeProvider` with the name from the initialiser, or the name of the store.
    public let providerName: String
    private let copy: StoreCopy

    /// Reads the settings.
    ///
    /// - Parameters:
    ///   - store: is retained; its values are copied into memory.
    ///   - name: distinguishes it from other providers.
    ///   - secrets: the values that logs leave out, besides the secrets of the store's layers. A
    ///     closure receives each key as the store has it, as in `WrongType.key`.
    /// - Throws: `KeepsakeError` when the file cannot be read, and within a transaction.
    public init(
      _ store: SettingsStore, name: String? = nil,
      secrets: SecretsSpecifier<String, StoredValue> = .none
    ) throws(KeepsakeError) {
      providerName = "KeepsakeProvider[\(name ?? store.storeName)]"
      copy = try StoreCopy(of: store, forProvider: providerName, secrets: secrets)
    }
  }

  extension KeepsakeProvider: ConfigProvider {
    /// The current value, from memory unless it has changed.
    ///
    /// - Throws: `WrongType`.
    public func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
      try copy.current.value(forKey: key, type: type)
    }

    /// The value that the file has now.
    ///
    /// - Throws: also `KeepsakeError` when the file cannot be read.
    public func fetchValue(
      forKey key: AbsoluteConfigKey, type: ConfigType
    ) async throws -> LookupResult {
      try copy.read().value(forKey: key, type: type)
    }

    /// The current value first, then the newest after each change of it. The sequence ends when the
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

    /// All current settings.
    public func snapshot() -> any ConfigSnapshot { copy.current }

    /// All current settings first, then the newest after each change. The sequence ends when the
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
    /// The provider's name and the number of its values, without the values.
    public var description: String { "\(copy.current)" }

    /// As `description`: a value may be a secret.
    public var debugDescription: String { description }
  }
#endif
