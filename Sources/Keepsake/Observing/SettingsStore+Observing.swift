// SPDX-License-Identifier: Apache-2.0
//
// How an application observes changes of a store, of all threads, processes and devices.

public import KeepsakeDevice
public import KeepsakeValues

extension SettingsStore {
  /// Calls `handler` after every commit that changed a key of this store, by any process, until the
  /// result is released.
  ///
  /// For a commit of this process, `handler` runs on the thread that committed. For commits of
  /// other processes it gets the net change, on another thread: on Linux the system wakes that
  /// thread, elsewhere it looks for changes every 50 ms. Changes that cannot be read are reported
  /// in `failures`, and read later. Reloads of a `SettingsLayer` are observed too; changes of
  /// defaults, suites and arguments are not.
  ///
  /// - Parameters:
  ///   - keys: the keys to observe: `"theme"`, `["theme", "volume"]`, `.prefix("editor.")`.
  ///   - handler: gets whole change sets in the order of their commits. It may read and write.
  public func observe(
    _ keys: KeyFilter = .all, _ handler: @escaping @Sendable ([SettingChange]) -> Void
  ) -> ObservationToken {
    backing.observers.add(keys, handler)
  }

  /// Change sets from now on, as `observe` delivers them. None is left out: those that are not read
  /// yet are buffered without a limit. The sequence ends with its task, after the buffered ones.
  public func changes(_ keys: KeyFilter = .all) -> AsyncStream<[SettingChange]> {
    let (changes, continuation) = AsyncStream<[SettingChange]>.makeStream()
    let token = observe(keys) { continuation.yield($0) }
    continuation.onTermination = { _ in token.cancel() }
    return changes
  }

  /// Calls `handler` on the main actor after every commit that changed a key of this store. The
  /// commit does not wait for it. `observe(_:_:)` runs its handler on the thread of the commit
  /// instead.
  ///
  /// ```swift
  /// token = settings.observe(on: MainActor.self) { changes in label.text = settings.username }
  /// ```
  ///
  /// - Parameters:
  ///   - keys: the keys to observe, as for `observe(_:_:)`.
  ///   - actor: `MainActor.self`.
  ///   - handler: gets whole change sets in the order of their commits.
  public func observe(
    _ keys: KeyFilter = .all, on actor: MainActor.Type,
    _ handler: @escaping @MainActor ([SettingChange]) -> Void
  ) -> ObservationToken {
    backing.observers.addOnMainActor(keys, handler)
  }
}

extension Setting {
  /// Calls `handler` with the value after every commit that changed the key, or that of a member,
  /// until the result is released; also if a layer hides what was set. The value is read when
  /// `handler` is called, so it may be newer than the commit.
  ///
  /// - Throws: `SettingDeclarationError` if this setting is not a property of a store.
  public func observe(_ handler: @escaping @Sendable (Value) -> Void) throws -> ObservationToken {
    let bound = try bound()
    return bound.backing.observers.add(.keys(bound.keys)) { [self] _ in handler(wrappedValue) }
  }

  /// The same with a handler that runs on the main actor.
  ///
  /// - Throws: `SettingDeclarationError` if this setting is not a property of a store.
  public func observe(
    on actor: MainActor.Type, _ handler: @escaping @MainActor (Value) -> Void
  ) throws -> ObservationToken {
    let bound = try bound()
    return bound.backing.observers.addOnMainActor(.keys(bound.keys)) { [self] _ in
      handler(wrappedValue)
    }
  }

  /// The value now, and after each change.
  ///
  /// A reader that is slower than the changes misses values in between, never the last one, and
  /// gets no value twice: the sequence remembers only that there was a change, and reads the value
  /// when the reader asks for it. If the value cannot be read, it is the default, as for the
  /// property. The sequence ends with its task.
  public var values: SettingValues<Value> { SettingValues(self) }

  /// Yields after each commit that changed the key.
  fileprivate func signals() -> AsyncStream<Void> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      guard let bound = slot.binding else {
        Self.reportUnbound()
        return continuation.finish()
      }
      let observation = bound.backing.observers.add(.keys(bound.keys)) { _ in continuation.yield() }
      continuation.onTermination = { _ in observation.cancel() }
    }
  }

  /// The stored value and the setting's value, from one read.
  fileprivate var present: (stored: StoredValue?, value: Value) {
    guard let bound = slot.binding else {
      Self.reportUnbound()
      return (nil, defaultValue)
    }
    var stored: StoredValue?
    do {
      stored = try bound.stored(failing: bound.report)
      return (stored, try decode(inForce: stored, of: bound, failing: bound.report))
    } catch {
      bound.backing.reportReadFailure(error, of: bound.key)
      return (stored, defaultValue)
    }
  }
}

/// The values of a setting: the present one first.
public struct SettingValues<Value: Sendable>: AsyncSequence, Sendable {
  private let setting: Setting<Value>

  init(_ setting: Setting<Value>) { self.setting = setting }

  public func makeAsyncIterator() -> Iterator { Iterator(setting) }

  /// Reads the setting at each call of `next()`.
  public struct Iterator: AsyncIteratorProtocol {
    private let setting: Setting<Value>
    private var signals: AsyncStream<Void>.Iterator?
    /// The stored value of the last read; nil before the first.
    private var last: StoredValue??

    init(_ setting: Setting<Value>) { self.setting = setting }

    /// First the present value, then the newest after a change; nil once the task is cancelled.
    public mutating func next() async -> Value? { await next(isolation: nil) }

    /// As `next()`, on the caller's actor.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
      // Signals begin before the first value is read, so that no change after it is missed.
      if signals == nil { signals = setting.signals().makeAsyncIterator() }
      while true {
        if last != nil { guard await signals?.next(isolation: actor) != nil else { return nil } }
        let present = setting.present
        if last == .some(present.stored) { continue }
        last = .some(present.stored)
        return present.value
      }
    }
  }
}

// MARK: - Main actor

extension StoreObservers {
  /// Adds an observer that runs on the main actor, whichever thread commits: in the order of the
  /// commits, and never after a `cancel()` on the main actor.
  fileprivate func addOnMainActor(
    _ keys: KeyFilter, _ handler: @escaping @MainActor ([SettingChange]) -> Void
  ) -> ObservationToken {
    let (changes, continuation) = AsyncStream<[SettingChange]>.makeStream()
    let observation = add(keys) { continuation.yield($0) }
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
    // The stream may have returned this one before the main actor cancelled.
    if Task.isCancelled { return }
    handler(set)
  }
}
