// SPDX-License-Identifier: Apache-2.0

package enum KeyPathStep: Sendable { case key(String), index(Int) }

extension [KeyPathStep] {
  /// The key path for messages, `PreferenceSpecifiers[3].DefaultValue`; nil for the root. A key
  /// that is not a plain word is in brackets and quotes, and shortened.
  package var keyPath: String? {
    var path = ""
    for step in self {
      switch step {
      case .index(let index): path += "[\(index)]"
      case .key(let key) where isPlain(key): path += path.isEmpty ? key : ".\(key)"
      case .key(let key): path += "[\(key.quoted)]"
      }
    }
    return path.isEmpty ? nil : path
  }

  private func isPlain(_ key: String) -> Bool {
    !key.isEmpty && key.utf8.count <= 60
      && key.utf8.allSatisfy { $0.isName && $0 != UInt8(ascii: ".") }
  }
}
