// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues
import Logging
import Synchronization

/// What went wrong where nothing could be thrown: the last few failures, each also logged.
final class FailureLog: Sendable {
  /// Older failures are in the log only.
  static let capacity = 100

  private struct State {
    var recent: [SettingFailure] = []
    /// The unreadable version that was last reported for a key.
    var reported: [ByteText: Version] = [:]
  }

  private let state = Mutex(State())
  private let logger: Logger

  init(logger: Logger) {
    self.logger = logger
  }

  var recent: [SettingFailure] { state.withLock { $0.recent } }

  /// What a getter could not read: the value in force and where it comes from, or, where even that
  /// cannot be told, whatever the file held at that moment, and why it could not be read.
  enum Version: Sendable, Equatable {
    case layer(Explanation.Layer)
    case unknown(Backing.State?, cause: String)
  }

  /// - Parameter version: what could not be read. It is reported once, or a setting that is read in
  ///   a loop would fill the log.
  func report(_ failure: SettingFailure, version: Version? = nil) {
    let isNew = state.withLock { state in
      if let version {
        let key = ByteText(failure.key)
        guard state.reported[key] != version else { return false }
        state.reported[key] = version
      }
      state.recent.append(failure)
      if state.recent.count > Self.capacity { state.recent.removeFirst() }
      return true
    }
    if isNew { logger.error("\(failure)") }
  }

  /// Logs what an owner should know, though nothing has failed.
  func warn(_ text: String) { logger.warning("\(text)") }
}
