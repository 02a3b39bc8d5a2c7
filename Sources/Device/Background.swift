// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Work that the end of the program waits for, where it ends by itself: `exit`, or the end of main.
package enum Background {
  private static let group = DispatchGroup()
  /// Longer than the backup of any device takes that is opened daily; one that ends the program
  /// from within such work waits so long in vain.
  private static let patience = DispatchTimeInterval.seconds(10)
  private static let waitsAtExit: Void = { atexit { Background.wait() } }()

  static func run(_ body: @escaping @Sendable () -> Void) {
    _ = waitsAtExit
    DispatchQueue.global(qos: .utility).async(group: group, execute: body)
  }

  package static func wait() {
    _ = group.wait(timeout: .now() + patience)
  }
}
