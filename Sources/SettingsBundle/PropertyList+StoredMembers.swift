// SPDX-License-Identifier: Apache-2.0

package import KeepsakeValues

extension PropertyList {
  /// The members of the root dictionary as a store keeps them, in their order.
  package func storedMembers(file: String) throws(PropertyListError) -> [(key: String, value: StoredValue)] {
    []
  }
}
