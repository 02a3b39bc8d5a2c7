// SPDX-License-Identifier: Apache-2.0

package import KeepsakeDevice
import Synchronization

/// Which devices are in a session with each other, in this process.
package enum Sessions {
  private struct Pair {
    weak var first: Device?
    weak var second: Device?
  }

  private static let pairs = Mutex<[ObjectIdentifier: Pair]>([:])

  private final class Listener: Sendable {
    let handler: @Sendable ([Device]) -> Void

    init(_ handler: @escaping @Sendable ([Device]) -> Void) { self.handler = handler }
  }

  private static let listeners = Mutex<[ObjectIdentifier: Listener]>([:])

  static func begin(_ session: AnyObject, _ first: Device, _ second: Device) {
    let id = ObjectIdentifier(session)
    pairs.withLock { $0[id] = Pair(first: first, second: second) }
    // A session of devices that are up to date commits nothing that would tell of it.
    for listener in listeners.withLock({ Array($0.values) }) {
      listener.handler([first, second])
    }
  }

  /// Calls `handler` with its two devices whenever a session has begun, until the result is
  /// released.
  package static func observe(
    _ handler: @escaping @Sendable ([Device]) -> Void
  ) -> ObservationToken {
    let listener = Listener(handler)
    listeners.withLock { $0[ObjectIdentifier(listener)] = listener }
    return ObservationToken {
      listeners.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(listener)) }
    }
  }

  static func end(_ session: AnyObject) {
    let id = ObjectIdentifier(session)
    pairs.withLock { _ = $0.removeValue(forKey: id) }
  }

  static func partners(of device: Device) -> [Device] {
    let shared = device.core.shared
    // The last reference to a device closes its file: these end without the lock.
    return pairs.withLock { $0.values.map { ($0.first, $0.second) } }.compactMap { first, second in
      if first?.core.shared === shared { return second }
      return second?.core.shared === shared ? first : nil
    }
  }
}

extension Device {
  /// The devices that this one is in a `SyncSession` with, in this process.
  package var partners: [Device] { Sessions.partners(of: self) }
}
