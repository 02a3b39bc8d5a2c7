// SPDX-License-Identifier: Apache-2.0
//
// Two devices that meet whenever either has changed. Each commit to one of the files, by whichever
// process, wakes a thread, which merges; what the merge itself commits wakes it once more, and the
// second merge finds nothing to do and writes nothing.

import Foundation
public import KeepsakeDevice
import KeepsakeValues
import Synchronization

/// Keeps two devices met, as they change, until it is cancelled or released.
///
///     let session = SyncSession(laptop, stick) { report in
///       print(report.changes.count, "settings have changed")
///     } onFailure: { error in
///       print("not met:", error)
///     }
///
/// It holds both files open. Conflicts are in the log of the first device, also those with what is
/// written on the second during an exchange; only beside a program that writes there without a
/// pause some are in the second's. `SettingsStore.resolveConflicts` on either device gets those of
/// both.
public final class SyncSession: Sendable {
  private let loop: Loop

  /// Begins with an exchange.
  ///
  /// - Parameters:
  ///   - options: `isOneWay` is not for a session, and is ignored.
  ///   - onExchange: gets the report of each exchange that has exchanged anything, on the session's
  ///     thread. It may read and write, and cancel the session. If an exchange fails half-way it
  ///     gets what was done until then, before `onFailure`.
  ///   - onFailure: gets the reason why the devices could not meet, once for as long as the reason
  ///     is the same. They try again when either changes, and every five seconds.
  public init(
    _ first: Device, _ second: Device, options: MergeOptions = MergeOptions(),
    onExchange: @escaping @Sendable (MergeReport) -> Void = { _ in },
    onFailure: @escaping @Sendable (KeepsakeError) -> Void
  ) {
    loop = Loop(first, second, options, onExchange, onFailure)
    loop.start()
  }

  deinit { cancel() }

  /// Ends the session. An exchange that is under way is brought to its end in the background; then
  /// the files are closed.
  public func cancel() { loop.cancel() }

  /// Ends the session, and returns when an exchange that was under way has come to its end, whether
  /// the task is cancelled or not.
  public func finish() async {
    cancel()
    await loop.end.wait()
  }
}

/// The session's thread. It does not hold the session, so that releasing that one ends it.
private final class Loop: Sendable {
  private struct State {
    /// Whether either device may have changed since the last exchange began.
    var isDirty = true
    var isCancelled = false
    var tokens: [ObservationToken] = []
    var lastFailure: String?
  }

  let end = SessionEnd()
  private let first: Device
  private let second: Device
  private let options: MergeOptions
  private let onExchange: @Sendable (MergeReport) -> Void
  private let onFailure: @Sendable (KeepsakeError) -> Void
  private let state = Mutex(State())
  private let signal = DispatchSemaphore(value: 0)

  /// Seconds after which an exchange that failed is tried again.
  private static let retry: Double = 5

  init(
    _ first: Device, _ second: Device, _ options: MergeOptions,
    _ onExchange: @escaping @Sendable (MergeReport) -> Void,
    _ onFailure: @escaping @Sendable (KeepsakeError) -> Void
  ) {
    (self.first, self.second) = (first, second)
    var options = options
    options.isOneWay = false
    options.firstReadsFirst = true
    self.options = options
    (self.onExchange, self.onFailure) = (onExchange, onFailure)
  }

  func start() {
    Sessions.begin(self, first, second)
    for device in [first, second] {
      let token = device.observeCommits {
        [weak self] in
        self?.wake()
      } onFailure: { [weak self] in
        self?.report($0)
      }
      state.withLock { $0.tokens.append(token) }
    }
    let thread = Thread { [self] in
      run()
      end.come()
    }
    thread.name = "keepsake.session"
    thread.start()
  }

  func cancel() {
    let tokens = state.withLock { state in
      state.isCancelled = true
      defer { state.tokens = [] }
      return state.tokens
    }
    Sessions.end(self)
    for token in tokens { token.cancel() }
    signal.signal()
  }

  private func wake() {
    let isNews = state.withLock { state in
      defer { state.isDirty = true }
      return !state.isDirty
    }
    if isNews { signal.signal() }
  }

  private func run() {
    while true {
      let isCancelled = state.withLock { state in
        state.isDirty = false
        return state.isCancelled
      }
      if isCancelled { return }
      let pause = meet()
      // Woken since, by what the exchange itself has written or by others.
      while !state.withLock({ $0.isDirty || $0.isCancelled }) {
        guard let pause else {
          signal.wait()
          continue
        }
        if signal.wait(timeout: .now() + pause) == .timedOut { break }
      }
    }
  }

  /// - Returns: seconds after which to look again, without a write.
  private func meet() -> Double? {
    do throws(KeepsakeError) {
      let report = try Merge.run([first, second], options: options)
      state.withLock { $0.lastFailure = nil }
      if report.isNews { onExchange(report) }
      return try report.hasConverged ? nil : secondsUntilDue()
    } catch {
      if let report = error.mergeReport { onExchange(report) }
      report(error)
      return Self.retry
    }
  }

  private func report(_ error: KeepsakeError) {
    let isNew = state.withLock { state in
      defer { state.lastFailure = error.description }
      return state.lastFailure != error.description && !state.isCancelled
    }
    if isNew { onFailure(error) }
  }

  /// When the first entry that waits for its time may come in.
  private func secondsUntilDue() throws(KeepsakeError) -> Double? {
    var first: Double?
    for device in [self.first, second] {
      guard let next = try device.core.access({ try Held.first($0) }) else { continue }
      let milliseconds = next.milliseconds - options.clockSkew - device.clock.milliseconds
      first = min(first ?? .infinity, max(Double(milliseconds) / 1000, 0.1))
    }
    // A clock may be set meanwhile.
    return first.map { min($0, 60) }
  }
}
