// SPDX-License-Identifier: Apache-2.0

public import KeepsakeDevice
public import KeepsakeSessions
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
/// It syncs at the start, at each write to the device by any process, when other devices have
/// written, and when the network returns; at most five times a second. Without a network it retries
/// after a second, then less and less often, at last every five minutes.
public final class HubSession: Sendable {
  private let loop: SessionLoop

  /// Begins to sync.
  ///
  /// - Parameters:
  ///   - device: the device; the session keeps it open.
  ///   - hub: the hub, with this device's membership.
  ///   - options: as for `Device.merge(with:options:)` with a hub.
  ///   - onState: receives each state, on the session's thread.
  ///   - onSync: receives the report of each sync that has read or changed anything, also of one
  ///     that failed half-way. It may read and write, and cancel the session.
  ///   - onFailure: receives the reason of a failed sync, but not again while it stays the same.
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
    let known = KnownHub()
    var work = SessionLoop.Work([device]) { () throws(KeepsakeError) in
      known.refused.renew(at: device.clock.milliseconds)
      let channel = HTTPChannel(hub: hub, refused: known.refused, known: known)
      return try Merge.run(device, with: channel, options: options)
    } onReport: {
      onSync($0)
    } onFailure: {
      onFailure($0)
    }
    work.isNeeded = { known.isNew(to: device, account: hub.account) }
    work.pause = { $0.retryAfter }
    work.onState = onState
    work.listen = { listener in
      // Without a stream no event reports the pushes of other devices.
      defer { known.newest = nil }
      do throws(KeepsakeError) {
        try EventStream(hub, listener) { known.newest = $0 }.listen()
      } catch {
        return error
      }
      return HubFailure.unreachable(hub.url, .failed("the hub has hung up"), .zero)
    }
    loop = SessionLoop(work, timing: timing)
    loop.start()
  }

  deinit { cancel() }

  /// The current state.
  public var state: SessionState { loop.state }

  /// Ends the session. A sync that is under way is completed in the background.
  public func cancel() { loop.cancel() }

  /// Ends the session, and waits until a sync that is under way is complete, even if the task is
  /// cancelled.
  public func finish() async { await loop.finish() }
}
