// SPDX-License-Identifier: Apache-2.0
//
// A device that stays met with a hub. One thread meets; a second one, while there is a connection,
// hears of what others write.

public import Foundation
public import KeepsakeDevice
public import KeepsakeSync
import Synchronization

/// Keeps a device met with a hub, as either changes, until it is cancelled or released.
///
///     let session = HubSession(device, hub) { state in
///       print(state)
///     } onExchange: { report in
///       print(report.changes.count, "settings have changed")
///     } onFailure: { error in
///       print("not met:", error)
///     }
///
/// It meets when it begins, at each write to the device by whichever process, when others have
/// written, and whenever there is a network again. Without one it tries again after a second, and
/// less and less often, every five minutes at last.
public final class HubSession: Sendable {
  /// How a session and its hub stand.
  public enum State: Sendable {
    /// It tries to meet the hub, or to hear of what others write.
    case connecting
    /// They have met, and it hears of what others write.
    case connected
    /// The hub could not be met, and is tried again then.
    case waiting(until: Date)
    /// The hub wants nothing of this device, as when its token was revoked. The session has ended.
    case refused(KeepsakeError)
  }

  private let loop: Loop

  /// Begins to meet.
  ///
  /// - Parameters:
  ///   - device: the device; the session keeps it open.
  ///   - hub: the hub, with this device's token.
  ///   - options: as for `Device.merge(with:options:)` with a hub.
  ///   - onState: gets each state, on the session's thread.
  ///   - onExchange: gets the report of each meeting that has exchanged anything, also of one that
  ///     failed half-way. It may read and write, and cancel the session.
  ///   - onFailure: gets the reason why they could not meet, once for as long as it is the same.
  public convenience init(
    _ device: Device, _ hub: Hub, options: MergeOptions = MergeOptions(),
    onState: @escaping @Sendable (State) -> Void = { _ in },
    onExchange: @escaping @Sendable (MergeReport) -> Void = { _ in },
    onFailure: @escaping @Sendable (KeepsakeError) -> Void
  ) {
    self.init(
      device, hub, options, .system, onState: onState, onExchange: onExchange,
      onFailure: onFailure)
  }

  package init(
    _ device: Device, _ hub: Hub, _ options: MergeOptions, _ timing: SessionTiming,
    onState: @escaping @Sendable (State) -> Void,
    onExchange: @escaping @Sendable (MergeReport) -> Void,
    onFailure: @escaping @Sendable (KeepsakeError) -> Void
  ) {
    loop = Loop(device, hub, options, timing, onState, onExchange, onFailure)
    loop.start()
  }

  deinit { cancel() }

  /// How they stand now.
  public var state: State { loop.shown }

  /// Ends the session. A meeting that is under way is brought to its end in the background.
  public func cancel() { loop.cancel() }

  /// Ends the session, and returns when a meeting that was under way has come to its end, whether
  /// the task is cancelled or not.
  public func finish() async {
    cancel()
    await loop.end.wait()
  }
}

/// The session's thread. It does not hold the session, so that releasing that one ends it.
private final class Loop: Sendable {
  private struct State {
    var plan = SessionPlan()
    var shown = HubSession.State.connecting
    var isCancelled = false
    var tokens: [ObservationToken] = []
    /// The request for events.
    var listening: (any TransportExchange)?
    /// Why it has ended, until that is looked at.
    var ending: KeepsakeError?
    /// What was told last.
    var (meetingFailure, listeningFailure) = (String?.none, String?.none)
  }

  let end = SessionEnd()
  private let device: Device
  private let hub: Hub
  private let options: MergeOptions
  private let timing: SessionTiming
  private let onState: @Sendable (HubSession.State) -> Void
  private let onExchange: @Sendable (MergeReport) -> Void
  private let onFailure: @Sendable (KeepsakeError) -> Void
  private let state = Mutex(State())
  private let signal = DispatchSemaphore(value: 0)
  /// Ends a pause of the events.
  private let wakeUp = DispatchSemaphore(value: 0)

  init(
    _ device: Device, _ hub: Hub, _ options: MergeOptions, _ timing: SessionTiming,
    _ onState: @escaping @Sendable (HubSession.State) -> Void,
    _ onExchange: @escaping @Sendable (MergeReport) -> Void,
    _ onFailure: @escaping @Sendable (KeepsakeError) -> Void
  ) {
    (self.device, self.hub, self.options, self.timing) = (device, hub, options, timing)
    (self.onState, self.onExchange, self.onFailure) = (onState, onExchange, onFailure)
  }

  var shown: HubSession.State { state.withLock { $0.shown } }

  func start() {
    let token = device.observeCommits { [weak self] in
      self?.update { $0.change() }
    } onFailure: { [weak self] in
      self?.report($0, \.meetingFailure)
    }
    state.withLock { $0.tokens.append(token) }
    Self.thread("keepsake.hub") { [self] in
      run()
      end.come()
    }
  }

  private static func thread(_ name: String, _ body: @escaping @Sendable () -> Void) {
    let thread = Thread(block: body)
    thread.name = name
    thread.start()
  }

  func cancel() {
    let (tokens, listening) = state.withLock { state in
      state.isCancelled = true
      defer { (state.tokens, state.listening) = ([], nil) }
      return (state.tokens, state.listening)
    }
    for token in tokens { token.cancel() }
    listening?.cancel()
    for semaphore in [signal, wakeUp] { semaphore.signal() }
  }

  private func update(_ body: (inout SessionPlan) -> Void) {
    state.withLock { body(&$0.plan) }
    signal.signal()
  }

  private func run() {
    onState(.connecting)
    while let step = next() {
      switch step {
      case .meet: meet()
      case .listen:
        state.withLock { $0.plan.beginListening() }
        show(.connected)
        Self.thread("keepsake.hub.events") { [self] in listen() }
      case .wait(let end): timing.wait(signal, end.map { max(0, $0 - timing.now()) })
      case .stop: return cancel()
      }
    }
  }

  private func next() -> SessionPlan.Step? {
    let ending = state.withLock { state in
      defer { state.ending = nil }
      return state.ending
    }
    if let ending {
      fail(ending, \.listeningFailure) { $0.endListening(ending, at: $1, chance: $2) }
    }
    return state.withLock { $0.isCancelled ? nil : $0.plan.next(at: timing.now()) }
  }

  private func show(_ shown: HubSession.State) {
    let isToBeTold = state.withLock { state in
      state.shown = shown
      return !state.isCancelled
    }
    if isToBeTold { onState(shown) }
  }

  // MARK: - Meeting

  private func meet() {
    let isNewTry = state.withLock { state in
      defer { state.plan.beginMeeting() }
      if case .waiting = state.shown { return true }
      return false
    }
    if isNewTry { show(.connecting) }
    do throws(KeepsakeError) {
      let report = try device.merge(with: hub, options: options)
      let isHearing = state.withLock { state in
        state.meetingFailure = nil
        state.plan.endMeeting(due: due(report))
        if case .connected = state.shown { return false }
        return state.plan.isListening
      }
      if isHearing { show(.connected) }
      if report.isNews { onExchange(report) }
    } catch {
      if let report = error.mergeReport { onExchange(report) }
      fail(error, \.meetingFailure) { $0.fail(error, at: $1, chance: $2) }
    }
  }

  /// When to look again without a write: some wait for their time, here or at the hub.
  private func due(_ report: MergeReport) -> Int64? {
    // What is not sent does not wait for its time.
    let isApart = report.events.contains(where: \.keepsApart)
    guard !report.hasConverged, !report.waiting.isEmpty || !isApart else { return nil }
    let first = report.waiting.map(\.until).min() ?? .distantFuture
    let seconds = first.timeIntervalSince(Date(milliseconds: device.clock.milliseconds))
    // A clock may be set meanwhile.
    return timing.now() + Int64(min(max(seconds, 0.1), 60) * 1000)
  }

  private func fail(
    _ error: KeepsakeError, _ told: WritableKeyPath<State, String?>,
    _ note: (inout SessionPlan, _ now: Int64, _ chance: Double) -> Void
  ) {
    let shown = state.withLock { state -> HubSession.State in
      let now = timing.now()
      note(&state.plan, now, timing.chance())
      if let refusal = state.plan.refusal { return .refused(refusal) }
      guard let end = state.plan.pauseEnd else { return .connecting }
      return .waiting(until: Date(milliseconds: device.clock.milliseconds + end - now))
    }
    show(shown)
    report(error, told)
  }

  private func report(_ error: KeepsakeError, _ told: WritableKeyPath<State, String?>) {
    let isNew = state.withLock { state in
      defer { state[keyPath: told] = error.description }
      return state[keyPath: told] != error.description && !state.isCancelled
    }
    if isNew { onFailure(error) }
  }

  // MARK: - Listening

  private func listen() {
    let stream = EventStream(hub) { [self] exchange in
      let isCancelled = state.withLock { state in
        state.listening = exchange
        return state.isCancelled
      }
      if isCancelled { exchange.cancel() }
    } onEvent: { [self] _ in
      state.withLock { $0.listeningFailure = nil }
      update { $0.hear() }
    } pause: { [self] in
      timing.wait(wakeUp, $0.milliseconds)
    } chance: { [self] in
      timing.chance()
    }
    var failure = HubFailure.unreachable(hub.url, .failed("the hub has hung up"), .zero)
    do throws(KeepsakeError) {
      try stream.listen()
    } catch {
      failure = error
    }
    state.withLock { $0.ending = failure }
    signal.signal()
  }
}
