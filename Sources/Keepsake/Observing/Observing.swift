// SPDX-License-Identifier: Apache-2.0
//
// How an application observes changes of a store, of all threads, processes and devices.

public import KeepsakeDevice
public import KeepsakeValues

extension SettingsStore {
  /// Calls `handler` after every commit that changed a key of this store, whichever process made
  /// it, until the result is released.
  ///
  /// For a commit of this process, `handler` runs on the thread that committed. For those of other
  /// processes it gets the net change, on another thread, which the system wakes on Linux and which
  /// looks every 50 ms elsewhere. What could not be read is reported in `failures`, and read later.
  /// Of other layers than what was set, a `SettingsLayer` is observed when it is reloaded;
  /// defaults, suites and arguments are not.
  ///
  /// - Parameters:
  ///   - keys: only changes of these: `"theme"`, `["theme", "volume"]`, `.prefix("editor.")`.
  ///   - handler: gets whole change sets in the order of their commits. It may read and write.
  public func observe(
    _ keys: KeyFilter = .all, _ handler: @escaping @Sendable ([SettingChange]) -> Void
  ) -> ObservationToken {
    backing.observe(keys, handler)
  }

  /// Change sets from now on, as `observe` gives them. Nothing is left out: what is not read yet is
  /// buffered without limit. The sequence ends with its task, after what is buffered.
  public func changes(_ keys: KeyFilter = .all) -> AsyncStream<[SettingChange]> {
    backing.changes(keys)
  }
}

extension Backing {
  func changes(_ keys: KeyFilter) -> AsyncStream<[SettingChange]> {
    let (changes, arrivals) = AsyncStream<[SettingChange]>.makeStream()
    let token = observe(keys) { arrivals.yield($0) }
    arrivals.onTermination = { _ in token.cancel() }
    return changes
  }
}

extension Setting {
  /// Calls `handler` with the value after every commit that changed the key, or that of a member,
  /// until the result is released; also where a layer above hides what was set. The value is read
  /// when `handler` is called, so it may be newer than the commit.
  ///
  /// - Throws: `SettingDeclarationError` if this setting is not a property of a store.
  public func observe(_ handler: @escaping @Sendable (Value) -> Void) throws -> ObservationToken {
    let bound = try bound()
    return bound.backing.observe(.keys(bound.keys)) { [self] _ in handler(wrappedValue) }
  }

  /// The value now, and after each change.
  ///
  /// A reader that is slower than the changes misses those in between, never the last one, and
  /// gets none twice: only that there was a change is remembered, the value is read when it is
  /// asked for. A value that cannot be read is the default, as for the property. The sequence ends
  /// with its task.
  public var values: SettingValues<Value> { SettingValues(self) }
}

/// The values of a setting: the present one first.
public struct SettingValues<Value: Sendable>: AsyncSequence, Sendable {
  private let setting: Setting<Value>

  init(_ setting: Setting<Value>) { self.setting = setting }

  public func makeAsyncIterator() -> Iterator { Iterator(setting) }

  /// Reads the setting when it is asked for the next value.
  public struct Iterator: AsyncIteratorProtocol {
    private let setting: Setting<Value>
    private var signals: AsyncStream<Void>.Iterator?
    /// What was stored when the last value was read; nil before the first.
    private var last: StoredValue??

    init(_ setting: Setting<Value>) { self.setting = setting }

    /// The present value at first, then the newest after a change; nil once the task is cancelled.
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
