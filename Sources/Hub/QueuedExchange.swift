// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeepsakeDevice
import Synchronization

/// Queues the events of an answer until the caller reads them.
final class QueuedExchange: TransportExchange {
  private struct EventQueue {
    var events: [Result<TransportEvent, TransportFault>] = []
    /// Bytes in `events`.
    var waiting = 0
    /// Set if the exchange was abandoned: cancelled, timed out, or too much was unread.
    var fault: TransportFault?
  }

  /// The maximum number of unread bytes.
  private static let limit = 32 << 20
  private let stop: @Sendable () -> Void
  private let state = Mutex(EventQueue())
  private let signal = DispatchSemaphore(value: 0)

  /// - Parameter stop: ends a request that does not poll `isAbandoned`.
  init(stop: @escaping @Sendable () -> Void = {}) { self.stop = stop }

  var isAbandoned: Bool { state.withLock { $0.fault != nil } }

  private func end(_ fault: TransportFault) {
    state.withLock { $0.fault = fault }
    stop()
  }

  func add(_ event: Result<TransportEvent, TransportFault>) {
    let isTooMuch = state.withLock { state in
      if case .success(.body(let bytes)) = event { state.waiting += bytes.count }
      state.events.append(event)
      return state.waiting > Self.limit
    }
    signal.signal()
    if isTooMuch { end(.failed("more came than was read")) }
  }

  func next(within limit: Duration) throws(TransportFault) -> TransportEvent {
    while true {
      let isLate = signal.wait(timeout: .now() + (limit / .seconds(1))) == .timedOut
      let event = state.withLock { state -> Result<TransportEvent, TransportFault>? in
        if let fault = state.fault { return .failure(fault) }
        guard !state.events.isEmpty else { return nil }
        let event = state.events.removeFirst()
        if case .success(.body(let bytes)) = event { state.waiting -= bytes.count }
        return event
      }
      if let event { return try event.get() }
      if isLate {
        end(.timedOut)
        throw .timedOut
      }
    }
  }

  func cancel() {
    end(.cancelled)
    signal.signal()
  }
}
