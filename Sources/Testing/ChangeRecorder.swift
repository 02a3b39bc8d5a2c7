// SPDX-License-Identifier: Apache-2.0

public import Keepsake
public import KeepsakeDevice
public import KeepsakeValues

/// Records every change of a store, or of a whole device, for as long as it lives.
///
///     let recorder = ChangeRecorder(settings)
///     settings.username = "ada"
///     #expect(recorder.changes(of: "username").map(\.new) == ["ada"])
///
/// A change of this thread is recorded when the write returns. For a change of another thread or
/// process, wait with `next`, which returns each change once.
public final class ChangeRecorder: Sendable {
  private let log = ChangeLog()
  private let observation: ObservationToken

  /// Records the changes of one store from now on.
  public init(_ store: SettingsStore) {
    observation = store.observe { [log] in log.append($0) }
  }

  /// Records the changes of all stores of a device from now on.
  public init(_ device: Device) {
    observation = device.observe { [log] in
      log.append($0)
    } onFailure: { [log] in
      log.append($0)
    }
  }

  /// The change sets in order, one for each commit.
  public var sets: [[SettingChange]] { log.sets }

  /// All changes in order.
  public var all: [SettingChange] { sets.flatMap { $0 } }

  /// The last change; nil if there was none.
  public var last: SettingChange? { sets.last?.last }

  /// The changes of one key in order.
  public func changes(of key: String) -> [SettingChange] {
    all.filter { $0.key.isSameBytes(as: key) }
  }

  /// The errors of reading other processes' changes of a device; those of a store are in its
  /// `failures`.
  public var failures: [KeepsakeError] { log.failures }

  /// Discards the recorded changes.
  public func clear() { log.clear() }

  /// Returns the first change of a key that `next` has not returned yet, and waits for it if
  /// necessary. Changes that were recorded before the call count too.
  ///
  /// - Parameters:
  ///   - key: the key, exactly as it is stored.
  ///   - limit: the maximum time to wait.
  /// - Throws: `TimedOut`, or `CancellationError` when the task is cancelled.
  @discardableResult
  public func next(
    _ key: String, within limit: Duration = .seconds(10)
  ) async throws -> SettingChange {
    try await next(within: limit, orReport: "no further change of \"\(key)\"") {
      $0.key.isSameBytes(as: key)
    }
  }

  /// Returns the first change that `matches` and that `next` has not returned yet, and waits for it
  /// if necessary.
  ///
  /// - Parameters:
  ///   - limit: the maximum time to wait.
  ///   - matches: a condition; it must not use this recorder.
  /// - Throws: `TimedOut`, or `CancellationError` when the task is cancelled.
  @discardableResult
  public func next(
    within limit: Duration = .seconds(10),
    where matches: @escaping @Sendable (SettingChange) -> Bool
  ) async throws -> SettingChange {
    try await next(within: limit, orReport: "no further such change", where: matches)
  }

  private func next(
    within limit: Duration, orReport problem: String,
    where matches: @escaping @Sendable (SettingChange) -> Bool
  ) async throws -> SettingChange {
    if let change = try await log.next(within: limit, where: matches) { return change }
    throw TimedOut(problem, within: limit, after: log.sets)
  }

  /// The expected change did not happen in time.
  public struct TimedOut: Error, Sendable, CustomStringConvertible {
    /// The expected change, the time limit, and the keys that did change.
    public let description: String

    fileprivate init(
      _ problem: String, within limit: Duration, after sets: [[SettingChange]]
    ) {
      let keys = sets.map { set in
        " [" + set.map { "\($0.store)/\($0.key)" }.joined(separator: ", ") + "]"
      }
      let seen = keys.isEmpty ? "nothing changed" : "what changed so far is" + keys.joined()
      description = "\(problem) within \(limit); \(seen)"
    }
  }
}
