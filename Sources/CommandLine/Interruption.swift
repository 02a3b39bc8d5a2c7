// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Calls a handler at SIGINT and SIGTERM, so that a command can finish; also in a process that was
/// started with these ignored, as by `&`.
package final class Interruption {
  private var sources: [any DispatchSourceSignal] = []

  package init(_ handler: @escaping @Sendable () -> Void) {
    for number in [SIGINT, SIGTERM] {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler(handler: handler)
      source.resume()
      sources.append(source)
    }
  }

  package func end() {
    for source in sources { source.cancel() }
  }
}

/// The result of work, which one thread sets, and another waits for.
package final class Completion: Sendable {
  private let reason = Mutex<Result<Void, any Error>?>(nil)
  private let isKnown = DispatchSemaphore(value: 0)

  package init() {}

  /// Only the first result counts.
  package func complete(with result: Result<Void, any Error>) {
    let isFirst = reason.withLock { reason in
      defer { reason = reason ?? result }
      return reason == nil
    }
    if isFirst { isKnown.signal() }
  }

  package func wait() throws {
    isKnown.wait()
    try reason.withLock { $0 }?.get()
  }
}
