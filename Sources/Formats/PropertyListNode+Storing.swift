// SPDX-License-Identifier: Apache-2.0

package import KeepsakeSettingsBundle
package import KeepsakeValues

extension PropertyListNode.Value {
  /// A stored value as a property list.
  ///
  /// - Throws: `ValueError` for a value that this version cannot read.
  package init(storing value: StoredValue) throws(ValueError) {
    switch value {
    case .string(let text): self = .string(text)
    case .integer(let number): self = .integer(number)
    case .real(let number): self = .real(number)
    case .boolean(let flag): self = .boolean(flag)
    case .data(let bytes): self = .data([UInt8](bytes))
    case .date(let date): self = .date(date)
    case .array(let elements):
      var list: [PropertyListNode] = []
      for element in elements {
        list.append(PropertyListNode(offset: 0, try Self(storing: element)))
      }
      self = .array(list)
    case .dictionary(let table):
      var members: [PropertyListNode.Member] = []
      for (key, value) in table {
        let node = PropertyListNode(offset: 0, try Self(storing: value))
        members.append(PropertyListNode.Member(key: key, keyOffset: 0, value: node))
      }
      self = .dictionary(members)
    case .opaque:
      throw ValueError(
        .invalid, "a property list cannot hold a value that this version cannot read")
    }
  }
}
