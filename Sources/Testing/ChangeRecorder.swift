// SPDX-License-Identifier: Apache-2.0

public import Keepsake
public import KeepsakeDevice
public import KeepsakeValues
import Synchronization

/// Remembers every change of a store, or of a whole device, for as long as it lives.
///
///     let recorder = ChangeRecorder(settings)
///     settings.username = "ada"
///     #expect(recorder.changes(of: "username").map(\.new) == ["ada"])
///
/// A change made in this process is there when the write has returned. For one that another thread
/// or process makes, wait with `next` or `waitFor`.
public final class ChangeRecorder: Sendable {
  private let log = ChangeLog()
  private let observation: ObservationToken
  private let unread: Failures

  /// Records what changes in one store from now on.
  public init(_ store: SettingsStore) {
    unread = Failures()
    observation = store.observe { [log] in log.append($0) }
  }

  /// Records what changes on a device from now on, in whatever store.
  public init(_ device: Device) {
    let unread = Failures()
    self.unread = unread
    observation = device.observe {
      [log] in
      log.append($0)
    } onFailure: {
      unread.append($0)
    }
  }

  /// The change sets, one for each commit, in their order.
  public var sets: [[Change]] { log.sets }

  /// All changes, in their order.
  public var all: [Change] { sets.flatMap { $0 } }

  /// The last change; nil when there was none.
  public var last: Change? { sets.last?.last }

  /// The changes of one key, in their order.
  public func changes(of key: String) -> [Change] { all.filter { $0.key.isSameBytes(as: key) } }

  /// Why changes of a device that other processes made could not be read; a store has them in its
  /// `errors`.
  public var failures: [KeepsakeError] { unread.all }

  /// Forgets what was recorded.
  public func clear() { log.clear() }

  /// The first change set that `next` has not returned yet; waits until there is one.
  ///
  /// - Parameter limit: how long to wait.
  /// - Throws: `TimedOut`, or `CancellationError` when the task is cancelled.
  public func next(within limit: Duration = .seconds(10)) async throws -> [Change] {
    try await log.wait(for: "no further change set", within: limit) { $0.takeNext() }
  }

  /// The first change of a key, whether it is recorded already or still to come.
  ///
  /// - Parameter limit: how long to wait.
  /// - Throws: `TimedOut`, or `CancellationError` when the task is cancelled.
  @discardableResult
  public func waitFor(
    _ key: String, within limit: Duration = .seconds(10)
  ) async throws -> Change {
    try await log.wait(for: "no change of \"\(key)\"", within: limit) { recorded in
      recorded.first { $0.key.isSameBytes(as: key) }
    }
  }

  /// The first change that `matches`, whether it is recorded already or still to come.
  ///
  /// - Parameters:
  ///   - limit: how long to wait.
  ///   - matches: must not use this recorder.
  /// - Throws: `TimedOut`, or `CancellationError` when the task is cancelled.
  @discardableResult
  public func waitFor(
    within limit: Duration = .seconds(10), where matches: @escaping @Sendable (Change) -> Bool
  ) async throws -> Change {
    try await log.wait(for: "no such change", within: limit) { $0.first(where: matches) }
  }

  /// What was waited for did not come in time.
  public struct TimedOut: Error, Sendable, CustomStringConvertible {
    /// What was waited for and how long, and the keys of what came instead.
    public let description: String
  }
}

private final class Failures: Sendable {
  private let errors = Mutex<[KeepsakeError]>([])

  var all: [KeepsakeError] { errors.withLock { $0 } }

  func append(_ error: KeepsakeError) { errors.withLock { $0.append(error) } }
}
