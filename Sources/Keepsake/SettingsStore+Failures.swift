// SPDX-License-Identifier: Apache-2.0
//
// How an application hears of what could not be thrown.

public import KeepsakeDevice

extension SettingsStore {
  /// The last failures of what could not throw, in this store object: getters, setters, names of
  /// Foundation's, observers, the daily backup. Each is also logged. At most 100.
  public var errors: [SettingFailure] { backing.failures.recent }

  /// Calls `handler` with each failure that could not be thrown, until the result is released:
  /// first with those in `errors`, then with each new one.
  ///
  /// A value that cannot be read is reported once for each of its versions, as in `errors`. A
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

  /// The failures that could not be thrown: those in `errors`, then each new one. A reader that is
  /// slower than the failures gets the newest 100.
  public var failures: AsyncStream<SettingFailure> {
    AsyncStream(bufferingPolicy: .bufferingNewest(FailureLog.capacity)) { continuation in
      let observation = observeFailures { continuation.yield($0) }
      continuation.onTermination = { _ in observation.cancel() }
    }
  }
}
