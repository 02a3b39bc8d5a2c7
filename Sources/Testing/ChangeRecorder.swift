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
/// It has recorded a change of this thread when the write returns. For a change of another thread
/// or process, wait with `next`: what it returned once, it does not return again.
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

  /// The first change of a key that no waiting for one change has returned yet; waits until there
  /// is one. What was recorded before the call counts, and is returned once.
  ///
  /// - Parameters:
  ///   - key: the key, exactly as it is stored.
  ///   - limit: the time to wait at most.
  /// - Throws: `TimedOut`, or `CancellationError` when the task is cancelled.
  @discardableResult
  public func next(
    _ key: String, within limit: Duration = .seconds(10)
  ) async throws -> SettingChange {
    try await wait(for: "no further change of \"\(key)\"", within: limit) { recorded in
      recorded.takeFirst { $0.key.isSameBytes(as: key) }
    }
  }

  /// The same for the first change that `matches`.
  ///
  /// - Parameters:
  ///   - limit: the time to wait at most.
  ///   - matches: a condition; it must not use this recorder.
  /// - Throws: `TimedOut`, or `CancellationError` when the task is cancelled.
  @discardableResult
  public func next(
    within limit: Duration = .seconds(10),
    where matches: @escaping @Sendable (SettingChange) -> Bool
  ) async throws -> SettingChange {
    try await wait(for: "no further such change", within: limit) {
      $0.takeFirst(where: matches)
    }
  }

  private func wait<Value: Sendable>(
    for problem: String, within limit: Duration,
    _ take: @escaping @Sendable (inout ChangeLog.Recorded) -> Value?
  ) async throws -> Value {
    try await log.wait(within: limit, take) { [log] in TimedOut(problem, limit, log.sets) }
  }

  /// The expected change did not happen in time.
  public struct TimedOut: Error, Sendable, CustomStringConvertible {
    /// The expected change, the time limit, and the keys that did change.
    public let description: String

    fileprivate init(_ problem: String, _ limit: Duration, _ sets: [[SettingChange]]) {
      let keys = sets.map { set in
        " [" + set.map { "\($0.store)/\($0.key)" }.joined(separator: ", ") + "]"
      }
      let seen = keys.isEmpty ? "nothing changed" : "what changed so far is" + keys.joined()
      description = "\(problem) within \(limit); \(seen)"
    }
  }
}
