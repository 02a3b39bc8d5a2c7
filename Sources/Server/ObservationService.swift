// SPDX-License-Identifier: Apache-2.0

#if Server
  public import Keepsake
  public import ServiceLifecycle

  /// Observes a store until a graceful shutdown, and then handles the changes that it has received.
  ///
  /// It observes commits from its creation on, also before it runs. When its task is cancelled, it
  /// ends after the change set that it is handling.
  public struct ObservationService: Service {
    private typealias Sets = AsyncStream<[SettingChange]>

    /// Receives changes of its layers only while it is retained.
    private let store: SettingsStore
    private let sets: Sets
    private let received: Sets.Continuation
    private let token: ObservationToken
    private let handle: @Sendable ([SettingChange]) async throws -> Void

    /// Observes a store.
    ///
    /// - Parameters:
    ///   - store: is retained.
    ///   - keys: only changes of these keys.
    ///   - handle: receives one change set at a time, in the order of the commits. An error that it
    ///     throws ends the service.
    public init(
      _ store: SettingsStore, _ keys: KeyFilter = .all,
      handle: @escaping @Sendable ([SettingChange]) async throws -> Void
    ) {
      let (sets, received) = Sets.makeStream()
      (self.store, self.sets, self.received, self.handle) = (store, sets, received, handle)
      token = store.observe(keys) { received.yield($0) }
    }

    /// Handles the change sets. Call it once.
    ///
    /// - Throws: the error of the handler.
    public func run() async throws {
      defer { token.cancel() }
      try await withGracefulShutdownHandler {
        for await set in sets {
          // A stream returns its buffered elements also in a cancelled task.
          if Task.isCancelled { return }
          try await handle(set)
        }
      } onGracefulShutdown: {
        token.cancel()
        received.finish()
      }
    }
  }
#endif
