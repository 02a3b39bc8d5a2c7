// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization

/// A log that keeps what it hears.
final class RecordedLog: Sendable {
  struct Line: Equatable {
    let level: Logger.Level
    let text: String
  }

  private let all = Mutex<[Line]>([])

  var lines: [Line] { all.withLock { $0 } }

  var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

  private struct Handler: LogHandler {
    let log: RecordedLog
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      log.all.withLock {
        $0.append(Line(level: event.level, text: "\(event.message) \(event.metadata ?? [:])"))
      }
    }
  }
}
