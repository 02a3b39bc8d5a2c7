// SPDX-License-Identifier: Apache-2.0

/// One property list of a bundle.
package struct SettingsPane: Sendable {
  /// The path in the bundle, such as `Root.plist`.
  package let file: String
  package let root: PropertyListNode
  /// Nil for a binary property list.
  package let map: SourceMap?
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

  /// The file and the line of an offset, such as `Root.plist:214`; in a binary property list the
  /// file and the key path.
  package func place(of offset: Int) -> String {
    map.map { "\(file):\($0.position(of: offset).line)" }
      ?? PropertyListError.place(file: file, position: nil, keyPath: root.keyPath(to: offset))
  }

  /// The error for a fault in this pane.
  package func error(_ fault: Fault) -> PropertyListError {
    PropertyListError(fault, file: file, map: map, keyPath: root.keyPath(to: fault.offset))
  }

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
    _ = try root.membersOfRoot()
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
  /// The key path of the innermost value at an offset. O(depth × log of members).
  package func keyPath(to offset: Int) -> String? {
    var path: [KeyPathStep] = []
    var node = self
    while true {
      switch node.value {
      case .array(let elements):
        guard let index = elements.last(upTo: offset, \.offset) else { return path.keyPath }
        path.append(.index(index))
        node = elements[index]
      case .dictionary(let members):
        guard let index = members.last(upTo: offset, \.keyOffset) else { return path.keyPath }
        path.append(.key(members[index].key))
        node = members[index].value
      default:
        return path.keyPath
      }
    }
  }
}

extension Array {
  /// The index of the last element that starts at or before `limit`; they are in order.
  fileprivate func last(upTo limit: Int, _ start: (Element) -> UInt32) -> Int? {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if Int(start(self[middle])) <= limit { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? nil : low - 1
  }
}
