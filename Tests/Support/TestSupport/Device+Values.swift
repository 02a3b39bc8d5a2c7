// SPDX-License-Identifier: Apache-2.0

package import KeepsakeDevice
package import KeepsakeValues

extension Device {
  /// The live values of a store, at one moment.
  package func values(store: String) throws(KeepsakeError) -> [ByteText: TaggedCell] {
    var values: [ByteText: TaggedCell] = [:]
    try forEachEntry(store: store) { values[$0.address.key] = $0.content.ifValue }
    return values
  }
}
