// SPDX-License-Identifier: Apache-2.0

/// Builds key paths for messages: `PreferenceSpecifiers[3].DefaultValue`.
package struct KeyPathText {
  package enum Step { case key(String), index(Int) }

  private var path = ""

  package init(_ steps: [Step] = []) {
    for step in steps { append(step) }
  }

  /// Nil for the root.
  package var text: String? { path.isEmpty ? nil : path }

  /// Appends a step; a key that is not a plain word goes in brackets and quotes, shortened.
  mutating func append(_ step: Step) {
    switch step {
    case .index(let index): path += "[\(index)]"
    case .key(let key): path += isPlain(key) ? (path.isEmpty ? key : ".\(key)") : "[\(key.quoted)]"
    }
  }

  private func isPlain(_ key: String) -> Bool {
    !key.isEmpty && key.utf8.count <= 60
      && key.utf8.allSatisfy { $0.isName && $0 != UInt8(ascii: ".") }
  }
}
