// SPDX-License-Identifier: Apache-2.0

package import KeepsakeValues

extension JSON {
  /// The first member of this name; nil if this is not an object or has none.
  package subscript(name: String) -> JSON? {
    guard case .object(let members) = self else { return nil }
    return members.first { ByteText($0.name) == ByteText(name) }?.value
  }
}
