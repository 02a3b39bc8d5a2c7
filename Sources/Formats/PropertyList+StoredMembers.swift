// SPDX-License-Identifier: Apache-2.0

import KeepsakeSettingsBundle
import KeepsakeValues

extension PropertyList {
  /// The members of the root dictionary as stored values, in the order of the file.
  ///
  /// - Throws: `PropertyListError` with the place of a root that is not a dictionary, an empty key,
  ///   an integer above `Int64.max`, or a value nested too deep.
  func storedMembers(
    file: String
  ) throws(PropertyListError) -> [(key: String, value: StoredValue)] {
    do throws(Fault) {
      return try storedMembers()
    } catch {
      let place = root.keyPath(to: error.offset)
      throw PropertyListError(error, file: file, map: sourceMap(), keyPath: place)
    }
  }

  private func storedMembers() throws(Fault) -> [(key: String, value: StoredValue)] {
    guard let members = root.members else {
      throw Fault(
        .wrongType, at: Int(root.offset), "the root is \(root.kindName), not a dictionary",
        cure: "wrap the value in a <dict>")
    }
    var stored: [(key: String, value: StoredValue)] = []
    for member in members {
      guard !member.key.isEmpty else {
        throw Fault(
          .emptyKey, at: Int(member.keyOffset), "the key is empty", cure: "give it a name")
      }
      stored.append((member.key, try member.value.storedValue()))
    }
    return stored
  }
}
