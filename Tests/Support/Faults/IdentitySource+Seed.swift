// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeTesting
import KeepsakeValues

extension IdentitySource {
  /// A seed gives the same IDs and bits each time.
  init(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    self.init(
      replicaID: { .random(using: &generator) },
      markBits: { .random(in: 1..<1 << 62, using: &generator) })
  }
}
