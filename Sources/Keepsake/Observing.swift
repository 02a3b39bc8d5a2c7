// SPDX-License-Identifier: Apache-2.0
//
// How an application hears of changes of a store: by whichever thread, process or device they were
// made.

public import KeepsakeDevice
public import KeepsakeValues

extension SettingsStore {
  /// Calls `handler` after every commit that changed a key of this store, whichever process made
  /// it, until the result is released.
  ///
  /// What this process commits is told on the thread that committed; what others commit on another
  /// thread, which the system wakes on Linux and which looks every 50 ms elsewhere, as the net
  /// change since this process last heard. What could not be read is reported in `errors`, and read
  /// later. Not told are changes of other layers than what was set: defaults, suites, arguments.
  ///
  /// - Parameters:
  ///   - keys: only changes of these: `"theme"`, `["theme", "volume"]`, `.prefix("editor.")`.
  ///   - handler: gets whole change sets in the order of their commits. It may read and write.
  public func observe(
    _ keys: KeyFilter = .all, _ handler: @escaping @Sendable ([Change]) -> Void
  ) -> ObservationToken {
    backing.observe(keys, handler)
  }

  /// Change sets from now on, as `observe` tells them. Nothing is left out: what is not read yet is
  /// buffered without limit.
  public func changes(_ keys: KeyFilter = .all) -> AsyncStream<[Change]> {
    AsyncStream { continuation in
      let observation = observe(keys) { continuation.yield($0) }
      continuation.onTermination = { _ in observation.cancel() }
    }
  }
}

extension Setting {
  /// Calls `handler` with the value after every commit that changed the key, until the result is
  /// released; also where an argument hides what was set. The value is read when `handler` is
  /// called, so it may be newer than the commit.
  ///
  /// - Throws: `SettingDeclarationError` if this setting is not a property of a store.
  public func observe(_ handler: @escaping @Sendable (Value) -> Void) throws -> ObservationToken {
    let bound = try bound()
    return bound.backing.observe(.key(bound.key)) { [self] _ in handler(wrappedValue) }
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

  public struct Iterator: AsyncIteratorProtocol {
    private let setting: Setting<Value>
    private var signals: AsyncStream<Void>.Iterator?
    /// What was stored when the last value was read; nil before the first.
    private var last: StoredValue??

    init(_ setting: Setting<Value>) { self.setting = setting }

    public mutating func next() async -> Value? { await next(isolation: nil) }

    public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
      // Whoever is told the first value hears of every change after it.
      if signals == nil { signals = setting.signals().makeAsyncIterator() }
      while last != nil {
        guard await signals?.next(isolation: actor) != nil else { return nil }
        if setting.stored != last { break }
      }
      // From one reading: a value that is newer than what is remembered would come again.
      let present = setting.present
      last = .some(present.stored)
      return present.value
    }
  }
}
