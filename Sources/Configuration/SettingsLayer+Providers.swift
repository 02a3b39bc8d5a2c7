// SPDX-License-Identifier: Apache-2.0
//
// Providers of swift-configuration as a layer of a store. A provider does not list its keys, and
// has to be asked for a type: so it is asked for all types, and a setting takes the one it needs.
//
// The layer has a snapshot of each provider, and another one after each change. What one key is in
// all types is therefore of one moment.

#if Configuration
  public import Configuration
  public import Keepsake

  extension SettingsLayer {
    /// A layer above everything: what a provider has there cannot be set.
    ///
    ///     let settings = try AppSettings(
    ///       on: device,
    ///       layers: [.managed(by: [EnvironmentVariablesProvider().prefixKeys(with: "app")])])
    ///
    /// The key `http.port` of a store is that of swift-configuration, which each provider has under
    /// a name of its own: `HTTP_PORT`, `--http-port`. It gives its value as one or more types: a
    /// setting takes the first that it can read; who asks by key gets text where there is text.
    ///
    /// A reload is seen when the provider's watch reports it. Then observers of the store hear
    /// which keys have another value, with the reason `SettingChange.Reason.reload`: of those that
    /// a layer of the store has, those of properties, and those that are observed by name.
    ///
    /// - Parameters:
    ///   - providers: the first that has a value gives it, as for a `ConfigReader`, which itself
    ///     does not tell who gave a value, under which key, and whether it is secret.
    ///   - keys: only these are asked for, so that an environment variable `USER` does not manage a
    ///     setting `user`.
    public static func managed(
      by providers: [any ConfigProvider], keys: KeyFilter = .all
    ) -> SettingsLayer {
      layer(.managed, providers, keys)
    }

    /// A layer of defaults: below what was set, above registered defaults. Else as
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
          if !Task.isCancelled { self?.report(WatchEnded(provider.providerName, error)) }
        }
      }
      whenReleased { task.cancel() }
    }
  }

  /// A provider whose changes are not heard of any more.
  private struct WatchEnded: Error, CustomStringConvertible {
    let description: String

    init(_ provider: String, _ error: any Error) {
      description =
        "\(provider) has ended its watch by an error of type \(type(of: error)), so its values "
        + "stay what they were; make the layer and its stores anew when it works again"
    }
  }

  /// What providers give, of one moment of each.
  private struct ProviderSnapshots: ProvidedValues {
    private var all: [ProviderSnapshot]

    init(_ providers: [any ConfigProvider]) {
      all = providers.map { ProviderSnapshot(name: $0.providerName, snapshot: $0.snapshot()) }
    }

    func replacing(_ index: Int, by snapshot: any ConfigSnapshot) -> ProviderSnapshots {
      var new = self
      new.all[index].snapshot = snapshot
      return new
    }

    func value(_ key: String) -> ProvidedValue? {
      let path = AbsoluteConfigKey(ConfigKey(key))
      guard !path.components.isEmpty else { return nil }
      return all.lazy.compactMap { $0.value(path) }.first
    }
  }

  /// What one provider gives.
  private struct ProviderSnapshot: Sendable {
    let name: String
    var snapshot: any ConfigSnapshot

    /// In the order in which a setting tries them: text for who asks by key, then what is shortest.
    private static let types: [ConfigType] = [
      .string, .int, .double, .bool, .stringArray, .intArray, .doubleArray, .boolArray, .bytes,
      .byteChunkArray,
    ]

    func value(_ path: AbsoluteConfigKey) -> ProvidedValue? {
      var readings: [StoredValue] = []
      var key = path.components.joined(separator: ".")
      var (isSecret, isRefused) = (false, false)
      for type in Self.types {
        switch Result(catching: { try snapshot.value(forKey: path, type: type) }) {
        case .success(let result):
          key = result.encodedKey
          // One that has no value has none of any type.
          guard let value = result.value else { break }
          readings.append(value.content.stored)
          isSecret = isSecret || value.isSecret
        case .failure: isRefused = true
        }
        if readings.isEmpty && !isRefused { return nil }
      }
      guard readings.isEmpty else {
        return ProvidedValue(readings, provider: name, key: key, isSecret: isSecret)
      }
      return ProvidedValue(unreadable: "it is given as no type", provider: name, key: key)
    }
  }
#endif
