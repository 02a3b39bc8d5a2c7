// SPDX-License-Identifier: Apache-2.0

/// One property list of a bundle.
package struct SettingsPane: Sendable {
  /// The path in the bundle, such as `Root.plist`.
  package let file: String
  package let root: PropertyListNode
  package let map: SourceMap
  package let specifiers: [SettingsSpecifier]
  /// The indices of the child panes in the bundle's `panes`, by the offsets of their rows.
  package var children: [UInt32: Int] = [:]
  /// The offsets of the rows whose file does not exist.
  package var missing: Set<UInt32> = []

  init(file: String, list: PropertyList) {
    self.file = file
    root = list.root
    map = list.sourceMap()
    specifiers = (root["PreferenceSpecifiers"]?.array ?? []).map { SettingsSpecifier($0) }
  }

  package var title: String? { root["Title"]?.string }
  /// The name of the `.strings` file that translates titles; nil if the pane is not translated.
  package var stringsTable: String? { root["StringsTable"]?.string }
  /// The suite that the settings belong to, instead of the app's own domain.
  func suite() throws(Fault) -> String? {
    guard let group = root["ApplicationGroupContainerIdentifier"] else { return nil }
    guard let name = group.string, !name.isEmpty else {
      throw Fault(
        .wrongType, at: Int(group.offset),
        "ApplicationGroupContainerIdentifier is \(group.string == nil ? group.kindName : "empty")",
        cure: "name the group, or remove the key")
    }
    return name
  }

  /// - Throws: `Fault` if this is not a dictionary with an array of `PreferenceSpecifiers`.
  func checkShape() throws(Fault) {
    guard root.members != nil else {
      throw Fault(
        .wrongType, at: Int(root.offset), "the root is \(root.kindName), not a dictionary",
        cure: "wrap the value in a <dict>")
    }
    guard let list = root["PreferenceSpecifiers"] else {
      throw Fault(
        .requiredKeyMissing, at: Int(root.offset), "this pane has no PreferenceSpecifiers",
        cure: "add an <array> of that name")
    }
    guard list.array != nil else {
      throw Fault(
        .wrongType, at: Int(list.offset), "PreferenceSpecifiers is \(list.kindName), not an array",
        cure: "make it an <array>")
    }
  }
}

extension PropertyListNode {
  /// The key path of the innermost value at an offset. O(depth × members).
  package func keyPath(to offset: Int) -> String? {
    var path = KeyPathText()
    var node = self
    while true {
      switch node.value {
      case .array(let elements):
        guard let index = elements.lastIndex(where: { Int($0.offset) <= offset }) else {
          return path.text
        }
        path.append(.index(index))
        node = elements[index]
      case .dictionary(let members):
        guard let member = members.last(where: { Int($0.keyOffset) <= offset }) else {
          return path.text
        }
        path.append(.key(member.key))
        node = member.value
      default:
        return path.text
      }
    }
  }
}
