// SPDX-License-Identifier: Apache-2.0

#if Server
  public import Keepsake
  public import KeepsakeHub
  public import ServiceLifecycle

  /// Keeps a device synced with a hub, as a `HubSession` does, until a graceful shutdown.
  ///
  /// Then, and when its task is cancelled, a sync that is under way is brought to its end before
  /// the service ends. When the hub wants nothing of this device any more, as when its token was
  /// revoked, the service throws.
  public struct HubService: Service {
    private typealias OnState = @Sendable (SessionState) -> Void

    private let begin: @Sendable (_ also: @escaping OnState) -> HubSession

    /// - Parameters: as of `HubSession`, which begins when the service runs.
    public init(
      _ device: Device, _ hub: Hub, options: MergeOptions = MergeOptions(),
      onState: @escaping @Sendable (SessionState) -> Void = { _ in },
      onSync: @escaping @Sendable (MergeReport) -> Void = { _ in },
      onFailure: @escaping @Sendable (KeepsakeError) -> Void
    ) {
      begin = { also in
        HubSession(
          device, hub, options: options,
          onState: { state in
            onState(state)
            also(state)
          }, onSync: onSync, onFailure: onFailure)
      }
    }

    /// Begins the session, and returns when it has ended.
    ///
    /// - Throws: the `KeepsakeError` for which the hub refuses the device.
    public func run() async throws {
      let (refusals, refusal) = AsyncStream<KeepsakeError>.makeStream()
      let session = begin { state in
        if case .refused(let error) = state { refusal.yield(error) }
      }
      let error = await cancelWhenGracefulShutdown { await refusals.first { _ in true } }
      await session.finish()
      if let error { throw error }
    }
  }
#endif
