// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeValues
import Logging
import Synchronization

/// The last failures of operations that cannot throw. Each failure is also logged.
final class FailureLog: Sendable {
  /// Older failures are in the log only.
  static let capacity = 100

  private struct State {
    var recent: [SettingFailure] = []
    /// The unreadable version that was last reported for a key.
    var reported: [ByteText: Version] = [:]
    var observers: [Int: @Sendable (SettingFailure) -> Void] = [:]
    var nextObserver = 0
  }

  private let state = Mutex(State())
  private let logger: Logger

  init(logger: Logger) {
    self.logger = logger
  }

  var recent: [SettingFailure] { state.withLock { $0.recent } }

  /// What a getter could not read: the value in force and where it comes from, or, where even that
  /// is unknown, the state of the file, and why it could not be read.
  enum Version: Sendable, Equatable {
    case layer(SettingExplanation.Layer)
    case unknown(StoreState?, cause: String)
  }

  /// - Parameter version: what could not be read. It is reported once, or a setting that is read in
  ///   a loop would fill the log.
  func report(_ failure: SettingFailure, version: Version? = nil) {
    let observers = state.withLock { state -> [Int: @Sendable (SettingFailure) -> Void]? in
      if let version {
        let former = state.reported.updateValue(version, forKey: ByteText(failure.key))
        guard former != version else { return nil }
      }
      state.recent.append(failure)
      if state.recent.count > Self.capacity { state.recent.removeFirst() }
      return state.observers
    }
    guard let observers else { return }  // It was reported before.
    logger.error("\(failure)")
    for handler in observers.values { handler(failure) }
  }

  /// Calls `handler` with each failure in `recent`, then with each new failure, on the thread of
  /// the failing operation and without a lock.
  func observe(_ handler: @escaping @Sendable (SettingFailure) -> Void) -> ObservationToken {
    let (id, recent) = state.withLock { state in
      defer { state.nextObserver += 1 }
      state.observers[state.nextObserver] = handler
      return (state.nextObserver, state.recent)
    }
    recent.forEach(handler)
    return ObservationToken {
      // Releases the handler after the lock.
      _ = self.state.withLock { $0.observers.removeValue(forKey: id) }
    }
  }

  /// Reports the failure of an operation on a whole store.
  func report(_ operation: SettingFailure.Operation, _ cause: any Error, store: String) {
    report(
      SettingFailure(
        store: store, key: "", operation: operation, storedType: nil, argument: nil,
        provider: nil, cause: cause))
  }

  /// Logs what an owner should know, though nothing has failed.
  func warn(_ text: String) { logger.warning("\(text)") }
}
