// SPDX-License-Identifier: Apache-2.0

#if Server
  public import Keepsake
  public import ServiceLifecycle

  /// Observes a store until a graceful shutdown; what it has heard until then is handled to its
  /// end.
  ///
  /// It hears of what is committed from when it is made, also before it runs. A task that is
  /// cancelled ends after the change set that it is handling.
  public struct ObservationService: Service {
    private typealias Sets = AsyncStream<[SettingChange]>

    /// Hears of its layers as long as it lives.
    private let store: SettingsStore
    private let sets: Sets
    private let heard: Sets.Continuation
    private let token: ObservationToken
    private let handle: @Sendable ([SettingChange]) async throws -> Void

    /// Observes a store.
    ///
    /// - Parameters:
    ///   - store: is retained.
    ///   - keys: only changes of these.
    ///   - handle: gets whole change sets in the order of their commits, one after the other. What
    ///     it throws ends the service.
    public init(
      _ store: SettingsStore, _ keys: KeyFilter = .all,
      handle: @escaping @Sendable ([SettingChange]) async throws -> Void
    ) {
      let (sets, heard) = Sets.makeStream()
      (self.store, self.sets, self.heard, self.handle) = (store, sets, heard, handle)
      token = store.observe(keys) { heard.yield($0) }
    }

    /// Handles what it hears. To be called once.
    ///
    /// - Throws: what the handler throws.
    public func run() async throws {
      defer { token.cancel() }
      try await withGracefulShutdownHandler {
        for await set in sets {
          // A stream gives what it has also in a cancelled task.
          if Task.isCancelled { return }
          try await handle(set)
        }
      } onGracefulShutdown: {
        token.cancel()
        heard.finish()
      }
    }
  }
#endif
