// SPDX-License-Identifier: Apache-2.0
//
// The loop of every session: a thread that syncs whenever a device has changed or an event has
// come, tries again after failures, and reports each of them once. A second thread listens for
// events, if there are any.

public import Foundation
public import KeepsakeDevice
package import KeepsakeSync
import Synchronization

/// The state of a session with a hub.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum SessionState: Sendable {
  /// It tries to sync, or to listen for what others write.
  case connecting
  /// They have synced, and what others write can arrive.
  case connected
  /// The hub could not be reached, and is tried again then.
  case waiting(until: Date)
  /// The hub refuses this device, as when its token was revoked. The session has ended.
  case refused(KeepsakeError)
}

package final class SessionLoop: Sendable {
  /// The devices that a session syncs, how, and the handlers that it calls.
  package struct Work: Sendable {
    package var devices: [Device]
    package var sync: @Sendable () throws(KeepsakeError) -> MergeReport
    /// Whether a change has to be synced.
    package var isNeeded: @Sendable () -> Bool = { true }
    /// Listens for events until that fails; nil if there are none.
    package var listen: (@Sendable (Listener) -> KeepsakeError)?
    /// How long the other side asks to be left alone.
    package var pause: @Sendable (KeepsakeError) -> Duration? = { _ in nil }
    package var onState: @Sendable (SessionState) -> Void = { _ in }
    package var onReport: @Sendable (MergeReport) -> Void
    package var onFailure: @Sendable (KeepsakeError) -> Void

    package init(
      _ devices: [Device], sync: @escaping @Sendable () throws(KeepsakeError) -> MergeReport,
      onReport: @escaping @Sendable (MergeReport) -> Void,
      onFailure: @escaping @Sendable (KeepsakeError) -> Void
    ) {
      (self.devices, self.sync) = (devices, sync)
      (self.onReport, self.onFailure) = (onReport, onFailure)
    }
  }

  /// The loop's functions for `Work.listen`.
  package struct Listener: Sendable {
    /// Receives the closure that cancels the request under way.
    package let onBegin: @Sendable (@escaping @Sendable () -> Void) -> Void
    package let onEvent: @Sendable () -> Void
    /// Waits, until the session is cancelled.
    package let pause: @Sendable (Duration) -> Void
    package let chance: @Sendable () -> Double

    package init(
      onBegin: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
      onEvent: @escaping @Sendable () -> Void, pause: @escaping @Sendable (Duration) -> Void,
      chance: @escaping @Sendable () -> Double
    ) {
      (self.onBegin, self.onEvent, self.pause, self.chance) = (onBegin, onEvent, pause, chance)
    }
  }

  private struct Content {
    var plan: SessionPlan
    var shown = SessionState.connecting
    var isCancelled = false
    var tokens: [ObservationToken] = []
    /// Ends the request for events.
    var stopListening: (@Sendable () -> Void)?
    /// Why listening has ended, until the loop looks at it.
    var ending: KeepsakeError?
    /// What was reported last.
    var syncFailure: String?
    var listenFailure: String?
    var remarks: [MergeReport.Event] = []
    var hasConverged = true
  }

  /// Milliseconds after which the end of a stream of events is news: a hub sends two beats by then.
  private static let longStream: Int64 = 60_000

  /// Left when the thread has come to its end.
  private let running = DispatchGroup()
  private let work: Work
  private let timing: SessionTiming
  private let content: Mutex<Content>
  private let signal = DispatchSemaphore(value: 0)
  /// Ends a pause of the events.
  private let wakeUp = DispatchSemaphore(value: 0)

  package init(_ work: Work, timing: SessionTiming) {
    (self.work, self.timing) = (work, timing)
    content = Mutex(Content(plan: SessionPlan(hasEvents: work.listen != nil)))
  }

  package var state: SessionState { content.withLock { $0.shown } }

  package func start() {
    for device in work.devices {
      let token = device.observe(keys: nil) { [weak self] _ in
        self?.update { $0.change() }
      } onFailure: { [weak self] in
        self?.report($0, as: \.syncFailure)
      }.token
      content.withLock { $0.tokens.append(token) }
    }
    running.enter()
    Self.startThread("keepsake.session") { [self] in
      run()
      running.leave()
    }
  }

  /// Ends the session, and returns when its thread has come to its end, whether the task is
  /// cancelled or not.
  package func finish() async {
    cancel()
    await withCheckedContinuation { waiter in
      running.notify(queue: .global()) { waiter.resume() }
    }
  }

  private static func startThread(_ name: String, running body: @escaping @Sendable () -> Void) {
    let thread = Thread(block: body)
    thread.name = name
    thread.start()
  }

  package func cancel() {
    let (tokens, stopListening) = content.withLock { content in
      content.isCancelled = true
      defer { (content.tokens, content.stopListening) = ([], nil) }
      return (content.tokens, content.stopListening)
    }
    for token in tokens { token.cancel() }
    stopListening?()
    for semaphore in [signal, wakeUp] { semaphore.signal() }
  }

  private func update(_ body: (inout SessionPlan) -> Void) {
    content.withLock { body(&$0.plan) }
    signal.signal()
  }

  private func run() {
    work.onState(.connecting)
    while let step = next() {
      switch step {
      case .sync: sync()
      case .listen:
        content.withLock { $0.plan.beginListening() }
        show(.connected)
        Self.startThread("keepsake.session.events") { [self] in listen() }
      case .wait(let end): timing.wait(signal, end.map { max(0, $0 - timing.now()) })
      case .stop: return cancel()
      }
    }
  }

  private func next() -> SessionPlan.Step? {
    let ending = content.withLock { content in
      defer { content.ending = nil }
      return content.ending
    }
    if let ending {
      fail(ending, as: \.listenFailure) { [work] in
        $0.endListening(ending, at: $1, chance: $2, asked: work.pause(ending))
      }
    }
    return content.withLock { $0.isCancelled ? nil : $0.plan.next(at: timing.now()) }
  }

  private func show(_ shown: SessionState) {
    let isToBeTold = content.withLock { content in
      content.shown = shown
      return !content.isCancelled
    }
    if isToBeTold { work.onState(shown) }
  }

  // MARK: - Syncing

  private func sync() {
    let now = timing.now()
    let (isDue, isNewTry) = content.withLock { content in
      let isDue = content.plan.isDue(at: now)
      content.plan.beginSync(at: now)
      if case .waiting = content.shown { return (isDue, true) }
      return (isDue, false)
    }
    guard isDue || work.isNeeded() else { return }
    if isNewTry { show(.connecting) }
    do throws(KeepsakeError) {
      let report = try work.sync()
      let isHearing = content.withLock { content in
        content.syncFailure = nil
        content.plan.endSync(due: due(report))
        if case .connected = content.shown { return false }
        return content.plan.isListening
      }
      if isHearing { show(.connected) }
      if isToBeTold(report) { work.onReport(report) }
    } catch {
      if let report = error.mergeReport { work.onReport(report) }
      fail(error, as: \.syncFailure) { [work] in
        $0.fail(error, at: $1, chance: $2, asked: work.pause(error))
      }
    }
  }

  /// A remark is reported when it begins and when it ends, and so is that something waits.
  private func isToBeTold(_ report: MergeReport) -> Bool {
    let isNews = content.withLock { content in
      defer { (content.remarks, content.hasConverged) = (report.remarks, report.hasConverged) }
      return content.remarks != report.remarks || content.hasConverged != report.hasConverged
    }
    return isNews || report.hasChanges || report.events.count > report.remarks.count
  }

  /// When to sync again without a change, because something waits for its time.
  private func due(_ report: MergeReport) -> Int64? {
    guard let first = report.waiting.map(\.until).min() else {
      // A report without changes does not say when.
      return report.transfers.contains { $0.waiting > 0 } ? timing.now() + 60_000 : nil
    }
    let now = work.devices.map(\.clock.milliseconds).max() ?? 0
    let seconds = first.timeIntervalSince(Date(milliseconds: now))
    // A clock may be set meanwhile. What should be due already waits for another clock, a hub's.
    guard seconds > 0, seconds < 60 else { return timing.now() + 60_000 }
    // A row is due a moment after its millisecond has begun.
    return timing.now() + Int64((seconds * 1_000).rounded(.up)) + 1
  }

  private func fail(
    _ error: KeepsakeError, as kind: WritableKeyPath<Content, String?>,
    note: (inout SessionPlan, _ now: Int64, _ chance: Double) -> Void
  ) {
    let shown = content.withLock { content -> SessionState in
      let now = timing.now()
      note(&content.plan, now, timing.chance())
      if let refusal = content.plan.refusal { return .refused(refusal) }
      guard let end = content.plan.pauseEnd else { return .connecting }
      let time = work.devices[0].clock.milliseconds + end - now
      return .waiting(until: Date(milliseconds: time))
    }
    show(shown)
    report(error, as: kind)
  }

  private func report(_ error: KeepsakeError, as kind: WritableKeyPath<Content, String?>) {
    let isNew = content.withLock { content in
      defer { content[keyPath: kind] = error.description }
      return content[keyPath: kind] != error.description && !content.isCancelled
    }
    if isNew { work.onFailure(error) }
  }

  // MARK: - Listening

  private func listen() {
    let listener = Listener { [self] stop in
      let isCancelled = content.withLock { content in
        content.stopListening = stop
        return content.isCancelled
      }
      if isCancelled { stop() }
    } onEvent: { [self] in
      update { $0.hear() }
    } pause: { [self] in
      timing.wait(wakeUp, $0.milliseconds)
    } chance: { [self] in
      timing.chance()
    }
    let start = timing.now()
    guard let ending = work.listen?(listener) else { return }
    let isLong = timing.now() - start >= Self.longStream
    content.withLock { content in
      // A proxy may cut every stream after some seconds, which is reported once.
      if isLong { content.listenFailure = nil }
      content.ending = ending
    }
    signal.signal()
  }
}
