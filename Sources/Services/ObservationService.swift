// SPDX-License-Identifier: Apache-2.0

#if Services
  public import Keepsake
  public import ServiceLifecycle

  /// Observes a device, or a store, until a graceful shutdown; what it has heard until then is
  /// handled to its end.
  ///
  /// It hears of what is committed from when it is made, also before it runs. A task that is
  /// cancelled ends after the change set that it is handling.
  public struct ObservationService: Service {
    private typealias Sets = AsyncStream<[SettingChange]>

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
      self.init(handle) { hear in store.observe(keys, hear) }
    }

    /// Observes all stores of a device, or one.
    ///
    /// - Parameters:
    ///   - store: only changes of this store; nil for all.
    ///   - keys: only changes of these.
    ///   - onFailure: gets the reason why other processes' changes cannot be read. They are tried
    ///     again.
    ///   - handle: gets whole change sets in the order of their commits, one after the other. What
    ///     it throws ends the service.
    public init(
      _ device: Device, store: String? = nil, _ keys: KeyFilter = .all,
      onFailure: @escaping @Sendable (KeepsakeError) -> Void,
      handle: @escaping @Sendable ([SettingChange]) async throws -> Void
    ) {
      self.init(handle) { hear in
        device.observe(store: store, keys, hear, onFailure: onFailure)
      }
    }

    private init(
      _ handle: @escaping @Sendable ([SettingChange]) async throws -> Void,
      observing: (@escaping @Sendable ([SettingChange]) -> Void) -> ObservationToken
    ) {
      let (sets, heard) = Sets.makeStream()
      (self.sets, self.heard, self.handle) = (sets, heard, handle)
      token = observing { heard.yield($0) }
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
