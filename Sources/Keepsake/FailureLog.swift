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
    /// The unreadable content that was last reported for a key.
    var reported: [ByteText: StoredValue] = [:]
  }

  private let state = Mutex(State())
  private let logger: Logger

  init(logger: Logger) {
    self.logger = logger
  }

  var recent: [SettingFailure] { state.withLock { $0.recent } }

  /// - Parameter content: what could not be read; the same content is reported once, or a setting
  ///   that is read in a loop would fill the log.
  func report(_ failure: SettingFailure, content: StoredValue? = nil) {
    let isNew = state.withLock { state in
      let key = ByteText(failure.key)
      if let content, state.reported[key] == content { return false }
      state.reported[key] = content
      state.recent.append(failure)
      if state.recent.count > Self.capacity { state.recent.removeFirst() }
      return true
    }
    if isNew { logger.error("\(failure)") }
  }
}
