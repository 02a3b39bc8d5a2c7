// SPDX-License-Identifier: Apache-2.0

#if Server
  public import Keepsake
  public import ServiceLifecycle

  /// Keeps two devices in sync, as a `SyncSession` does, until a graceful shutdown.
  ///
  /// At the shutdown, and when its task is cancelled, the service completes the current sync before
  /// it ends.
  public struct SyncService: Service {
    private let begin: @Sendable () -> SyncSession

    /// - Parameters: as of `SyncSession`, which begins when the service runs.
    public init(
      _ first: Device, _ second: Device, options: MergeOptions = MergeOptions(),
      onSync: @escaping @Sendable (MergeReport) -> Void = { _ in },
      onFailure: @escaping @Sendable (KeepsakeError) -> Void
    ) {
      begin = {
        SyncSession(
          first, second, options: options, onSync: onSync, onFailure: onFailure)
      }
    }

    /// Begins the session, and returns when it has ended.
    public func run() async {
      let session = begin()
      do {
        try await gracefulShutdown()
      } catch {
        // The task is cancelled, which ends the service too.
      }
      await session.finish()
    }
  }
#endif
