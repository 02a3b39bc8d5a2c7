// SPDX-License-Identifier: Apache-2.0
//
// Limits that the system sets for this process are failures like others, not its end.

import Foundation
import KeepsakeDevice

enum ProcessLimits {
  /// Before anything else.
  static func prepare() throws(KeepsakeError) {
    // A file that may not grow any more makes write(2) fail with EFBIG.
    signal(SIGXFSZ, SIG_IGN)
    try checkDescriptors()
  }

  /// Throws where two files, a copy and Dispatch, which would trap, do not get what they need.
  private static func checkDescriptors() throws(KeepsakeError) {
    var descriptors: [Int32] = []
    defer { for descriptor in descriptors { close(descriptor) } }
    for _ in 0..<16 {
      let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw KeepsakeError(system: errno, path: "(this process)") }
      descriptors.append(descriptor)
    }
  }
}
