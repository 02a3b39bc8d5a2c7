// SPDX-License-Identifier: Apache-2.0
//
// Syncs two devices whenever either has changed. Each commit to one of the files, by whichever
// process, wakes the session; what a sync itself commits wakes it once more, and the second sync
// finds nothing to do and writes nothing.

public import KeepsakeDevice
public import KeepsakeSync

/// Syncs two devices whenever either changes, until it is cancelled or released.
///
///     let session = SyncSession(laptop, stick) { report in
///       print(report.changes.count, "settings have changed")
///     } onFailure: { error in
///       print("not synced:", error)
///     }
///
/// It holds both files open. A conflict is in the log of the device that found it, mostly the
/// first.
public final class SyncSession: Sendable {
  private let loop: SessionLoop

  /// Begins with a sync.
  ///
  /// - Parameters:
  ///   - options: `isOneWay` is not for a session, and is ignored.
  ///   - onSync: gets the report of each sync that has read or changed anything, on the
  ///     session's thread. It may read and write, and cancel the session. If a sync fails half-way
  ///     it gets what was done until then, before `onFailure`.
  ///   - onFailure: gets the reason why the devices could not sync, once for as long as the reason
  ///     is the same. They try again after a second, and less and less often, every five minutes at
  ///     last.
  public init(
    _ first: Device, _ second: Device, options: MergeOptions = MergeOptions(),
    onSync: @escaping @Sendable (MergeReport) -> Void = { _ in },
    onFailure: @escaping @Sendable (KeepsakeError) -> Void
  ) {
    var options = options
    options.isOneWay = false
    let work = SessionLoop.Work([first, second]) { [options] () throws(KeepsakeError) in
      try Merge.run([first, second], options: options)
    } onReport: {
      onSync($0)
    } onFailure: {
      onFailure($0)
    }
    loop = SessionLoop(work, timing: .system)
    loop.start()
  }

  deinit { cancel() }

  /// Ends the session. A sync that is under way is brought to its end in the background; then the
  /// files are closed.
  public func cancel() { loop.cancel() }

  /// Ends the session, and returns when a sync that was under way has come to its end, whether the
  /// task is cancelled or not.
  public func finish() async { await loop.finish() }
}
