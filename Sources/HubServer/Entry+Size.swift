// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
package import KeepsakeValues

extension Entry {
  /// The bytes of the key and the value, as a page counts them.
  package var size: Int { address.key.string.utf8.count + content.cell.byteCount }

  /// The bytes that count toward an account's limit: the timestamp, the numbers and the places in
  /// indexes take about a hundred beside the key and the value.
  package var cost: Int { size + 100 }
}
