// SPDX-License-Identifier: Apache-2.0
//
// How an application observes failures of operations that cannot throw.

public import KeepsakeDevice

extension SettingsStore {
  /// The last failures of what could not throw, in this store object: getters, setters, names of
  /// Foundation's, observers, the daily backup. Each is also logged. At most 100.
  public var failures: [SettingFailure] { backing.failures.recent }

  /// Calls `handler` with each failure that could not be thrown, until the result is released:
  /// first with those in `failures`, then with each new one.
  ///
  /// A value that cannot be read is reported once for each of its versions, as in `failures`. A
  /// setter within a transaction reports nothing, because the transaction throws.
  ///
  /// - Parameter handler: runs where the failure happens, on the thread of the getter or setter and
  ///   before it returns, so that a breakpoint shows who asked. Several threads may call it at
  ///   once.
  public func observeFailures(
    _ handler: @escaping @Sendable (SettingFailure) -> Void
  ) -> ObservationToken {
    backing.failures.observe(handler)
  }
}
