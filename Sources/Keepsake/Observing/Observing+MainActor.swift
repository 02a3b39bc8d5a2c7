// SPDX-License-Identifier: Apache-2.0
//
// Observers that run on the main actor, whichever thread commits: in the order of the commits, one
// after another, and never after a `cancel()` on the main actor.

public import KeepsakeDevice
public import KeepsakeValues

extension SettingsStore {
  /// Calls `handler` on the main actor after every commit that changed a key of this store, as
  /// `observe(_:_:)` does on the thread of the commit. The commit does not wait for it.
  ///
  /// ```swift
  /// token = settings.observe(on: MainActor.self) { changes in label.text = settings.username }
  /// ```
  ///
  /// - Parameters:
  ///   - keys: only changes of these: `"theme"`, `["theme", "volume"]`, `.prefix("editor.")`.
  ///   - actor: `MainActor.self`.
  ///   - handler: gets whole change sets in the order of their commits.
  public func observe(
    _ keys: KeyFilter = .all, on actor: MainActor.Type,
    _ handler: @escaping @MainActor ([SettingChange]) -> Void
  ) -> ObservationToken {
    backing.observeOnMainActor(keys, handler)
  }
}

extension Setting {
  /// Calls `handler` on the main actor with the value after every commit that changed the key, as
  /// `observe(_:)` does on the thread of the commit. The value is read when `handler` is called.
  ///
  /// - Throws: `SettingDeclarationError` if this setting is not a property of a store.
  public func observe(
    on actor: MainActor.Type, _ handler: @escaping @MainActor (Value) -> Void
  ) throws -> ObservationToken {
    let bound = try bound()
    return bound.backing.observeOnMainActor(.keys(bound.keys)) { [self] _ in
      handler(wrappedValue)
    }
  }
}

extension Backing {
  fileprivate func observeOnMainActor(
    _ keys: KeyFilter, _ handler: @escaping @MainActor ([SettingChange]) -> Void
  ) -> ObservationToken {
    let (changes, arrivals) = AsyncStream<[SettingChange]>.makeStream()
    let observation = observe(keys) { arrivals.yield($0) }
    // A task for each change set would not keep their order.
    // Detached: a task of a container's recipe would inherit the container, and keep it alive.
    let delivery = Task.detached(priority: Task.currentPriority) {
      await forward(changes, to: handler)
    }
    return ObservationToken {
      observation.cancel()
      delivery.cancel()
    }
  }
}

@MainActor
private func forward(
  _ changes: AsyncStream<[SettingChange]>, to handler: @MainActor ([SettingChange]) -> Void
) async {
  for await set in changes {
    // One may have been on its way when this actor cancelled.
    if Task.isCancelled { return }
    handler(set)
  }
}
