// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues
import TestSupport
import Testing

extension CollectionTests {
  /// Of a deletion b has not even a grave left when an old write comes back to it; a still has the
  /// tombstone, which b has read before.
  @Test func aTombstoneThatItsReaderHasForgottenIsReadAgain() throws {
    try deleted(knownTo: c)
    try a.merge(with: b)
    clock.milliseconds += 5000 * Self.day
    try set(b, "new", 2)
    #expect(try b.compact().collected == 1)
    try b.merge(with: c)
    #expect(try live(b) == ["k": "old", "kept": 1, "new": 2])
    #expect(try tombstones(a) == 1)
    #expect(try a.merge(with: b).hasConverged)
    for device in [a, b] { #expect(try live(device) == ["kept": 1, "new": 2]) }
  }
}
