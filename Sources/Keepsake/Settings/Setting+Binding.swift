// SPDX-License-Identifier: Apache-2.0
//
// The interface of a setting for its store, which does not know the value's type.

import KeepsakeDevice
import KeepsakeValues

extension Setting: BindableSetting {
  func declaredKeys(_ key: String) -> [DeclaredKey] {
    guard let fields = slot.binding?.fields else {
      return [
        DeclaredKey(
          key: key, fallback: declaredDefault
        ) { [self] value in
          problem { try codec.decode(value) }
        }
      ]
    }
    return fields.members.map { member in
      DeclaredKey(
        key: member.key, fallback: DeclaredDefault(fields.defaults[member.name])
      ) { [self] value in
        problem { try codec.decode(fields.example(with: value, as: member)) }
      }
    }
  }

  var declaredDefault: DeclaredDefault { DeclaredDefault(fallback, codec) }

  /// The text of the error that `body` throws; nil if it throws none.
  func problem<Result>(_ body: () throws -> Result) -> String? {
    do {
      _ = try body()
      return nil
    } catch {
      return "\((error as? SettingFailure)?.cause ?? error)"
    }
  }

  func bind(to binding: SettingSlot.Binding) -> Bool { slot.bind(binding) }
}
