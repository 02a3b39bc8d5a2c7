// SPDX-License-Identifier: Apache-2.0
//
// How a getter finds the value: the cached value, then the stored one, then the default.

import KeepsakeDevice
import KeepsakeValues

extension Setting {
  @inlinable @inline(__always)
  func value(_ loan: SharedReference<SettingSlot.Known>.Loan) -> Value {
    // Only this setting keeps anything in its slot.
    let value = loan.object._withUnsafeGuaranteedRef {
      unsafeDowncast($0, to: SettingSlot.Kept<Value>.self).value
    }
    extendLifetime(value)
    loan.giveBack()
    return value
  }

  /// The value for a getter, which cannot throw.
  @inline(never) @usableFromInline
  func valueOrDefault() -> Value {
    slot.access()
    if let loan = slot.borrow() { return value(loan) }
    guard let bound = slot.binding else {
      Self.reportUnbound()
      return defaultValue
    }
    do {
      if slot.renew(), let loan = slot.borrow() { return value(loan) }
      let origin = bound.backing.state
      let value = try readable(bound.stored(failing: bound.report), bound)
      // A computed default may differ at the next read.
      if fallback.isConstant, let origin { slot.keep(SettingSlot.Kept(value, origin)) }
      return value
    } catch {
      bound.backing.reportRead(bound.key, error)
      return defaultValue
    }
  }

  /// As `decode`, with a report of each member that cannot be read.
  func readable(_ stored: StoredValue?, _ bound: SettingSlot.Binding) throws -> Value {
    try decode(inForce: stored, bound, failing: bound.report)
  }
}
