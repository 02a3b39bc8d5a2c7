// SPDX-License-Identifier: Apache-2.0
//
// Providers of swift-configuration as a layer of a store. A provider does not list its keys, and a
// look-up needs a type. So the layer looks a key up as each type, and a setting uses the type that
// it needs.
//
// The layer has a snapshot of each provider, and replaces it after each change. So the values of a
// key in all types are of one moment.

#if Configuration
  public import Configuration
  public import Keepsake

  extension SettingsLayer {
    /// A layer above all others: a key with a value of a provider cannot be set.
    ///
    ///     let settings = try AppSettings(
    ///       on: device,
    ///       layers: [.managed(by: [EnvironmentVariablesProvider().prefixKeys(with: "app")])])
    ///
    /// The key `http.port` of a store is the key `http.port` of swift-configuration. Each provider
    /// has its own name for it: `HTTP_PORT`, `--http-port`. A provider may have its value as
    /// several types. A setting uses the first type that it can read; a read by key returns text if
    /// there is text.
    ///
    /// The layer reloads when the provider's watch reports a change. Then observers of the store
    /// receive the keys whose values have changed, with the reason `SettingChange.Reason.reload`:
    /// keys of the store's layers, keys of properties, and keys that are observed by name.
    ///
    /// - Parameters:
    ///   - providers: the first one with a value wins, as for a `ConfigReader`. (A `ConfigReader`
    ///     cannot be a layer: it does not report a value's provider, key and secrecy.)
    ///   - keys: only these are looked up, so that an environment variable `USER` does not manage a
    ///     setting `user`.
    public static func managed(
      by providers: [any ConfigProvider], keys: KeyFilter = .all
    ) -> SettingsLayer {
      layer(.managed, providers, keys)
    }

    /// A layer of defaults: below values that were set, above registered defaults. Otherwise like
    /// `managed(by:keys:)`.
    public static func defaults(
      from providers: [any ConfigProvider], keys: KeyFilter = .all
    ) -> SettingsLayer {
      layer(.defaults, providers, keys)
    }

    private static func layer(
      _ place: Place, _ providers: [any ConfigProvider], _ keys: KeyFilter
    ) -> SettingsLayer {
      let layer = SettingsLayer(place, keys: keys, ProviderSnapshots(providers))
      for (index, provider) in providers.enumerated() { layer.follow(provider, at: index) }
      return layer
    }

    private func follow(_ provider: some ConfigProvider, at index: Int) {
      let task = Task.detached { [weak self] in
        do {
          try await provider.watchSnapshot { snapshots in
            for await snapshot in snapshots {
              self?.reload { ($0 as? ProviderSnapshots)?.replacing(index, by: snapshot) ?? $0 }
            }
          }
        } catch {
          // Its text may contain a value.
          if !Task.isCancelled {
            self?.report(WatchEnded(of: provider.providerName, by: error))
          }
        }
      }
      retain(ObservationToken { task.cancel() })
    }
  }

  /// A provider's watch has failed, so its changes are no longer received.
  private struct WatchEnded: Error, CustomStringConvertible {
    let description: String

    init(of provider: String, by error: any Error) {
      description =
        "\(provider) has ended its watch by an error of type \(type(of: error)), so its values "
        + "stay what they were; make the layer and its stores anew when it works again"
    }
  }

  /// A snapshot of each provider.
  private struct ProviderSnapshots: ProvidedValues {
    private var all: [any ConfigSnapshot]

    init(_ providers: [any ConfigProvider]) { all = providers.map { $0.snapshot() } }

    func replacing(_ index: Int, by snapshot: any ConfigSnapshot) -> ProviderSnapshots {
      var new = self
      new.all[index] = snapshot
      return new
    }

    func value(_ key: String) -> ProvidedValue? {
      let path = AbsoluteConfigKey(ConfigKey(key))
      guard !path.components.isEmpty else { return nil }
      return all.lazy.compactMap { $0.value(path) }.first
    }
  }

  extension ConfigType {
    /// In the order in which a setting tries them: text first, for reads by key; then the shortest.
    fileprivate static let inOrderOfAttempts: [ConfigType] = [
      .string, .int, .double, .bool, .stringArray, .intArray, .doubleArray, .boolArray, .bytes,
      .byteChunkArray,
    ]
  }

  extension ConfigSnapshot {
    /// The value in all types that the provider has it in.
    fileprivate func value(_ path: AbsoluteConfigKey) -> ProvidedValue? {
      var readings: [StoredValue] = []
      var key = path.components.joined(separator: ".")
      var (isSecret, isRefused) = (false, false)
      for type in ConfigType.inOrderOfAttempts {
        switch Result(catching: { try value(forKey: path, type: type) }) {
        case .success(let result):
          key = result.encodedKey
          // A provider without a value of this type has no value of any type.
          guard let value = result.value else { break }
          readings.append(value.content.stored)
          isSecret = isSecret || value.isSecret
        case .failure: isRefused = true
        }
        if readings.isEmpty && !isRefused { return nil }
      }
      guard readings.isEmpty else {
        return ProvidedValue(readings, provider: providerName, key: key, isSecret: isSecret)
      }
      return ProvidedValue(
        unreadable: "it is given as no type", provider: providerName, key: key)
    }
  }
#endif
