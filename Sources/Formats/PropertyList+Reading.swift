// SPDX-License-Identifier: Apache-2.0

package import KeepsakeSettingsBundle
import KeepsakeValues

extension PropertyList {
  /// Reads the property list at a path, or the `Root.plist` of a bundle.
  ///
  /// - Throws: `PropertyListError`, before reading if the file is too large or not a regular file.
  package static func read(
    at path: String, limits: PropertyListLimits = PropertyListLimits()
  ) throws(PropertyListError) -> PropertyList {
    let (folder, file) = try BundleFolder.open(path)
    let (bytes, _) = try folder.read(file, real: nil, limit: limits.effectiveBytes)
    return try parse(bytes, file: folder.shownPath(file), limits: limits)
  }

  /// The members of the root dictionary as stored values, in the order of the file.
  ///
  /// - Throws: `PropertyListError` with the place of a root that is not a dictionary, an empty key,
  ///   an integer above `Int64.max`, or a value nested too deep.
  func storedMembers(
    file: String
  ) throws(PropertyListError) -> [(key: String, value: StoredValue)] {
    do throws(Fault) {
      var stored: [(key: String, value: StoredValue)] = []
      for member in try root.membersOfRoot() {
        guard !member.key.isEmpty else {
          throw Fault(
            .emptyKey, at: Int(member.keyOffset), "the key is empty", cure: "give it a name")
        }
        stored.append((member.key, try member.value.storedValue()))
      }
      return stored
    } catch {
      let place = root.keyPath(to: error.offset)
      throw PropertyListError(error, file: file, map: sourceMap(), keyPath: place)
    }
  }
}

extension PropertyListLimits {
  /// Limits for files that the user names: above every settings file, and far below the memory of a
  /// machine.
  package static var generous: PropertyListLimits {
    var limits = PropertyListLimits()
    limits.bytes = 256 << 20
    limits.depth = 512
    limits.elements = 1_000_000
    limits.textBytes = 64 << 20
    return limits
  }
}
