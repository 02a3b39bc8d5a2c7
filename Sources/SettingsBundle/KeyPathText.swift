// SPDX-License-Identifier: Apache-2.0

/// Builds key paths for messages: `PreferenceSpecifiers[3].DefaultValue`.
package struct KeyPathText {
  private var path = ""

  /// Nil for the root.
  package init() {}

  package var text: String? { path.isEmpty ? nil : path }

  /// Appends a key; one that is not a plain word goes in brackets and quotes, shortened.
  package mutating func append(key: String) {
    let isPlain =
      !key.isEmpty && key.utf8.count <= 60
      && key.utf8.allSatisfy { $0.isName && $0 != UInt8(ascii: ".") }
    if isPlain {
      path += path.isEmpty ? key : ".\(key)"
    } else {
      path += "[\(key.quoted)]"
    }
  }

  package mutating func append(index: Int) {
    path += "[\(index)]"
  }
}
