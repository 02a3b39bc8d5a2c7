// SPDX-License-Identifier: Apache-2.0
//
// A device that stays synced with a hub.

public import KeepsakeDevice
public import KeepsakeSync

/// Keeps a device synced with a hub, as either changes, until it is cancelled or released.
///
///     let session = HubSession(device, hub) { state in
///       print(state)
///     } onSync: { report in
///       print(report.changes.count, "settings have changed")
///     } onFailure: { error in
///       print("not synced:", error)
///     }
///
/// It syncs when it begins, at each write to the device by whichever process, when others have
/// written, and whenever there is a network again; at most five times a second. Without a network
/// it tries again after a second, and less and less often, every five minutes at last.
public final class HubSession: Sendable {
  private let loop: SessionLoop

  /// Begins to sync.
  ///
  /// - Parameters:
  ///   - device: the device; the session keeps it open.
  ///   - hub: the hub, with this device's membership.
  ///   - options: as for `Device.merge(with:options:)` with a hub.
  ///   - onState: gets each state, on the session's thread.
  ///   - onSync: gets the report of each sync that has read or changed anything, also of one
  ///     that failed half-way. It may read and write, and cancel the session.
  ///   - onFailure: gets the reason why they could not sync, once for as long as it is the same.
  public convenience init(
    _ device: Device, _ hub: Hub, options: MergeOptions = MergeOptions(),
    onState: @escaping @Sendable (SessionState) -> Void = { _ in },
    onSync: @escaping @Sendable (MergeReport) -> Void = { _ in },
    onFailure: @escaping @Sendable (KeepsakeError) -> Void
  ) {
    self.init(
      device, hub, options, .system, onState: onState, onSync: onSync,
      onFailure: onFailure)
  }

  package init(
    _ device: Device, _ hub: Hub, _ options: MergeOptions, _ timing: SessionTiming,
    onState: @escaping @Sendable (SessionState) -> Void,
    onSync: @escaping @Sendable (MergeReport) -> Void,
    onFailure: @escaping @Sendable (KeepsakeError) -> Void
  ) {
    let news = HubNews(device, hub)
    var work = SessionLoop.Work([device]) { () throws(KeepsakeError) in
      try Merge.run(device, with: news.channel, options: options)
    } onReport: {
      onSync($0)
    } onFailure: {
      onFailure($0)
    }
    work.isNeeded = { news.isNeeded }
    work.pause = { $0.retryAfter }
    work.onState = onState
    work.listen = { news.listen($0) }
    loop = SessionLoop(work, timing)
    loop.start()
  }

  deinit { cancel() }

  /// How they stand now.
  public var state: SessionState { loop.state }

  /// Ends the session. A sync that is under way is brought to its end in the background.
  public func cancel() { loop.cancel() }

  /// Ends the session, and returns when a sync that was under way has come to its end, whether the
  /// task is cancelled or not.
  public func finish() async { await loop.finish() }
}

/// The state that a session keeps of its hub.
private final class HubNews: Sendable {
  private let device: Device
  private let hub: Hub
  private let refused = RefusedRows()
  private let known = KnownHub()

  init(_ device: Device, _ hub: Hub) { (self.device, self.hub) = (device, hub) }

  /// The way to the hub, for one sync.
  var channel: any HubChannel {
    refused.renew(at: device.clock.milliseconds)
    return HTTPChannel(hub: hub, refused: refused, known: known)
  }

  /// Whether either side has what the other has not. What a sync itself commits wakes its session,
  /// and its push comes back as an event.
  var isNeeded: Bool {
    let account = hub.account
    guard let newest = known.newest else { return true }
    let isSynced = Result { () throws(KeepsakeError) in
      try device.core.read { connection in
        let cursor = try connection.hubs.cursor(of: account)
        return try cursor.read == newest
          && cursor.sent.sequenceNumber == connection.marks.newestNumber()
      }
    }
    // The sync reports what fails.
    if case .success(true) = isSynced { return false }
    return true
  }

  func listen(_ listener: SessionLoop.Listener) -> KeepsakeError {
    let stream = EventStream(hub) { exchange in
      listener.onBegin { exchange.cancel() }
    } onEvent: { [self] newest in
      known.newest = newest
      listener.onEvent()
    } pause: {
      listener.pause($0)
    } chance: {
      listener.chance()
    }
    // What is pushed meanwhile has no event.
    defer { known.newest = nil }
    do throws(KeepsakeError) {
      try stream.listen()
    } catch {
      return error
    }
    return HubFailure.unreachable(hub.url, .failed("the hub has hung up"), .zero)
  }
}
