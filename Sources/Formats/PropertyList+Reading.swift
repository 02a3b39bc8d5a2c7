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
}

extension PropertyListLimits {
  /// For files that the user names: far above every settings file, far below what a machine has.
  package static var generous: PropertyListLimits {
    var limits = PropertyListLimits()
    limits.bytes = 256 << 20
    limits.depth = 512
    limits.elements = 1_000_000
    limits.textBytes = 64 << 20
    return limits
  }
}

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

/// Words on the command line, or data, that cannot be used.
package struct InputError: Error {
  package enum Kind: Sendable { case usage, data, missing, unreadable, broken }

  package let kind: Kind
  /// The problem and its cure, with a semicolon between them.
  package let message: String

  package init(kind: Kind, message: String) {
    self.kind = kind
    self.message = message
  }
}
