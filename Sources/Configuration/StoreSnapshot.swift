// SPDX-License-Identifier: Apache-2.0

#if Configuration
  import Configuration
  import Keepsake
  import KeepsakeValues

  /// What a provider knows, of one moment.
  struct StoreSnapshot: ConfigSnapshot {
    let provider: KeepsakeProvider.Identity
    var values: [ByteText: Readings]
    /// How often the values were replaced.
    var count = 0

    var providerName: String { provider.name }

    /// - Parameter key: nil for all keys.
    func isSame(as other: StoreSnapshot, at key: AbsoluteConfigKey?) -> Bool {
      guard let text = key?.text else { return count == other.count }
      return values[ByteText(text)] == other.values[ByteText(text)]
    }

    func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
      try provider.result(values[ByteText(key.text)], key.text, type)
    }
  }

  extension AbsoluteConfigKey {
    /// The key in the store.
    fileprivate var text: String { components.joined(separator: ".") }
  }

  extension StoreSnapshot: CustomStringConvertible, CustomDebugStringConvertible {
    /// The provider's name, and how many values there are; none of them.
    var description: String { "\(providerName)[\(values.count) values]" }

    /// As `description`: a value may be a secret.
    var debugDescription: String { description }
  }
#endif
