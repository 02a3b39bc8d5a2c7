// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// Time and chance of a session.
package struct SessionTiming: Sendable {
  /// Milliseconds of a clock that goes on.
  package var now: @Sendable () -> Int64
  /// Waits for a signal, for so many milliseconds at most; nil for ever.
  package var wait: @Sendable (DispatchSemaphore, Int64?) -> Void
  /// A random number from 0 to 1.
  package var chance: @Sendable () -> Double

  package init(
    now: @escaping @Sendable () -> Int64,
    wait: @escaping @Sendable (DispatchSemaphore, Int64?) -> Void,
    chance: @escaping @Sendable () -> Double
  ) {
    (self.now, self.wait, self.chance) = (now, wait, chance)
  }

  package static let system = SessionTiming(
    now: { Int64(DispatchTime.now().uptimeNanoseconds / 1_000_000) },
    wait: { signal, milliseconds in
      guard let milliseconds else { return signal.wait() }
      _ = signal.wait(timeout: .now() + .milliseconds(Int(milliseconds)))
    },
    chance: { .random(in: 0...1) })
}
