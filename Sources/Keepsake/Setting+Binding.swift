// SPDX-License-Identifier: Apache-2.0
//
// A setting as its store sees it, which does not know the value's type.

import KeepsakeValues

extension Setting: BindableSetting {
  func problem(reading value: StoredValue) -> String? {
    problem { try codec.decode(value) }
  }

  var typeName: String { "\(Value.self)" }

  var storedDefault: (value: StoredValue?, problem: String?) {
    var value: StoredValue?
    let problem = problem { value = try codec.encode(defaultValue) }
    return (value, problem)
  }

  /// What went wrong; nil for nothing.
  func problem<Result>(_ body: () throws -> Result) -> String? {
    do {
      _ = try body()
      return nil
    } catch {
      return "\((error as? SettingFailure)?.cause ?? error)"
    }
  }

  func bind(to backing: Backing, key: String) -> Bool {
    slot.bind(SettingSlot.Binding(backing: backing, key: key))
  }
}
