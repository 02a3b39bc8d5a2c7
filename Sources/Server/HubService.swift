// SPDX-License-Identifier: Apache-2.0

#if Server
  public import Keepsake
  public import KeepsakeHub
  public import ServiceLifecycle

  /// Keeps a device synced with a hub, as a `HubSession` does, until a graceful shutdown.
  ///
  /// At the shutdown, and when its task is cancelled, the service completes the current sync before
  /// it ends. If the hub refuses the device for good, for example because its token was revoked,
  /// the service throws.
  public struct HubService: Service {
    private let begin: @Sendable (_ onRefusal: @escaping @Sendable (KeepsakeError) -> Void)
      -> HubSession

    /// - Parameters: as of `HubSession`, which begins when the service runs.
    public init(
      _ device: Device, _ hub: Hub, options: MergeOptions = MergeOptions(),
      onState: @escaping @Sendable (SessionState) -> Void = { _ in },
      onSync: @escaping @Sendable (MergeReport) -> Void = { _ in },
      onFailure: @escaping @Sendable (KeepsakeError) -> Void
    ) {
      begin = { onRefusal in
        HubSession(
          device, hub, options: options,
          onState: { state in
            onState(state)
            if case .refused(let error) = state { onRefusal(error) }
          }, onSync: onSync, onFailure: onFailure)
      }
    }

    /// Begins the session, and returns when it has ended.
    ///
    /// - Throws: the `KeepsakeError` for which the hub refuses the device.
    public func run() async throws {
      let (refusals, refusal) = AsyncStream<KeepsakeError>.makeStream()
      let session = begin { refusal.yield($0) }
      let error = await cancelWhenGracefulShutdown { await refusals.first { _ in true } }
      await session.finish()
      if let error { throw error }
    }
  }
#endif
