// SPDX-License-Identifier: Apache-2.0

#if Configuration
  import Configuration
  import Keepsake
  import KeepsakeValues

  /// The values of a store at one moment.
  struct StoreSnapshot: ConfigSnapshot {
    let providerName: String
    let secrets: SecretsSpecifier<String, StoredValue>
    var values: [ByteText: ValueInForce]
    /// The number of times that the values were replaced.
    var count = 0

    /// - Parameter key: nil for all keys.
    func isSame(as other: StoreSnapshot, at key: AbsoluteConfigKey?) -> Bool {
      guard let text = key?.text else { return count == other.count }
      return values[ByteText(text)] == other.values[ByteText(text)]
    }

    func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
      let key = key.text
      guard let found = values[ByteText(key)] else {
        return LookupResult(encodedKey: key, value: nil)
      }
      guard let content = found.content(as: type) else {
        throw KeepsakeProvider.WrongType(
          provider: providerName, key: key, stored: found.value.kind, asked: type)
      }
      let isSecret = found.isSecret || secrets.isSecret(key: key, value: found.value)
      return LookupResult(encodedKey: key, value: ConfigValue(content, isSecret: isSecret))
    }
  }

  extension AbsoluteConfigKey {
    /// The key in the store.
    fileprivate var text: String { components.joined(separator: ".") }
  }

  extension StoreSnapshot: CustomStringConvertible, CustomDebugStringConvertible {
    /// The provider's name and the number of values, without the values.
    var description: String { "\(providerName)[\(values.count) values]" }

    /// As `description`: a value may be a secret.
    var debugDescription: String { description }
  }
#endif
