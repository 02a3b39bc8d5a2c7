// SPDX-License-Identifier: Apache-2.0

#if Configuration
  import Configuration
  import Keepsake
  import KeepsakeValues

  /// Where a store has the value that a key of swift-configuration asks for.
  struct KeyPath: Sendable {
    /// The key in the store, then that of a member, and of a member of that.
    let steps: [String]
    /// The path in one string, as `LookupResult.encodedKey` has it.
    var encoded: String { steps.joined(separator: ".") }

    init(_ key: AbsoluteConfigKey, _ layout: KeepsakeProvider.Layout, below root: String?) {
      let keys =
        switch layout {
        case .flat: [key.components.joined(separator: ".")]
        case .nested: key.components
        }
      steps = (root.map { [$0] } ?? []) + keys
    }

    /// - Parameter value: what the store has under a key.
    func find(_ value: (String) throws -> ValueInForce?) rethrows -> ValueInForce? {
      guard let first = steps.first, var found = try value(first) else { return nil }
      for step in steps.dropFirst() {
        guard case .dictionary(let members) = found.value, let member = members[step] else {
          return nil
        }
        found = ValueInForce(member, isSecret: found.isSecret)
      }
      return found
    }
  }

  /// What a provider knows, of one moment.
  struct StoreSnapshot: ConfigSnapshot {
    let provider: KeepsakeProvider.Identity
    var values: [ByteText: ValueInForce]
    /// How often the values were replaced.
    var count = 0

    var providerName: String { provider.name }

    func found(_ path: KeyPath) -> ValueInForce? {
      path.find { values[ByteText($0)] }
    }

    /// - Parameter path: nil for all keys.
    func isSame(as other: StoreSnapshot, at path: KeyPath?) -> Bool {
      guard let path else { return count == other.count }
      return found(path) == other.found(path)
    }

    func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
      let path = provider.path(key)
      return try provider.result(found(path), path, type)
    }
  }

  extension StoreSnapshot: CustomStringConvertible, CustomDebugStringConvertible {
    /// The provider's name, and how many values there are; none of them.
    var description: String { "\(providerName)[\(values.count) values]" }

    /// As `description`: a value may be a secret.
    var debugDescription: String { description }
  }
#endif
