// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues
import Logging
import Synchronization

/// The last failures of a store's operations that cannot throw. Each failure is also logged.
final class FailureLog: Sendable {
  /// Older failures are in the log only.
  static let capacity = 100

  /// Identifies a value that a getter could not read, so that it is reported once.
  enum UnreadableVersion: Sendable, Equatable {
    /// The value in force, and where it comes from.
    case layer(SettingExplanation.Layer)
    /// The layers cannot be read either: the version of the store, and why.
    case unknown(StoreVersion?, cause: String)
  }

  private struct State {
    var recent: [SettingFailure] = []
    /// The unreadable version that was last reported for a key.
    var reported: [ByteText: UnreadableVersion] = [:]
  }

  private let state = Mutex(State())
  private let observers = Handlers<SettingFailure>()
  private let store: String
  private let logger: Logger

  init(store: String, logger: Logger) { (self.store, self.logger) = (store, logger) }

  var recent: [SettingFailure] { state.withLock { $0.recent } }

  /// Reports a failure: once for each version, or every time without one. A setting that is read in
  /// a loop would fill the log.
  func report(
    _ operation: SettingFailure.Operation, _ error: any Error, key: String = "",
    version: UnreadableVersion? = nil
  ) {
    let failure =
      error as? SettingFailure ?? SettingFailure(operation, error, store: store, key: key)
    let handlers = state.withLock { state -> [@Sendable (SettingFailure) -> Void]? in
      if let version {
        let former = state.reported.updateValue(version, forKey: ByteText(failure.key))
        guard former != version else { return nil }
      }
      state.recent.append(failure)
      if state.recent.count > Self.capacity { state.recent.removeFirst() }
      return observers.all
    }
    guard let handlers else { return }  // It was reported before.
    logger.error("\(failure)")
    for handler in handlers { handler(failure) }
  }

  /// Calls `handler` with each failure in `recent`, then with each new failure, on the thread of
  /// the failing operation and without a lock.
  func observe(_ handler: @escaping @Sendable (SettingFailure) -> Void) -> ObservationToken {
    // With one lock: no failure is missed, and none is reported twice.
    let (token, recent) = state.withLock { (observers.add(handler), $0.recent) }
    recent.forEach(handler)
    return token
  }

  /// Logs a message for the application's developer, though nothing has failed.
  func warn(_ text: String) { logger.warning("\(text)") }
}
