// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Turns SIGINT and SIGTERM into a call, so that a command ends in good order; also where this
/// process was told to ignore them when it was started, as one behind `&` is.
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

/// Why something ends: waited for by one thread, known to another.
package final class Ending: Sendable {
  private let reason = Mutex<Result<Void, any Error>?>(nil)
  private let isKnown = DispatchSemaphore(value: 0)

  package init() {}

  /// The first that comes counts.
  package func come(_ result: Result<Void, any Error>) {
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
