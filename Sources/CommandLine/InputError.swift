// SPDX-License-Identifier: Apache-2.0

package import KeepsakeFormats

/// An ending that is not a failure of the program: the answer is "no".
package struct Negative: Error {
  /// For stderr; nil when stdout has said it all.
  package let message: String?

  package init(message: String?) { self.message = message }
}

extension InputError {
  /// What to do about a word that starts with a dash and is no option.
  ///
  /// - Parameter word: the one before; behind an option, `--` would leave that without a value.
  package static func dashCure(after word: String) -> String {
    let mayBeOption = word.hasPrefix("--") && !word.contains("=")
    return "a value that starts with - follows --" + (mayBeOption ? ", or the = of its option" : "")
  }

  package static func usage(_ message: String) -> InputError {
    InputError(kind: .usage, message: message)
  }
}
