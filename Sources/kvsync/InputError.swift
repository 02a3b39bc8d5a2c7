// SPDX-License-Identifier: Apache-2.0

/// An ending that is not a failure of the program: the answer is "no".
struct Negative: Error {
  /// For stderr; nil when stdout has said it all.
  let message: String?
}

/// Words on the command line, or data, that cannot be used.
struct InputError: Error {
  enum Kind { case usage, data, missing, unreadable, broken }

  let kind: Kind
  /// What is wrong; what to do.
  let message: String

  /// What to do about a word that starts with a dash and is no option.
  ///
  /// - Parameter word: the one before; behind an option, `--` would leave that without a value.
  static func dashCure(after word: String) -> String {
    let mayBeOption = word.hasPrefix("--") && !word.contains("=")
    return "a value that starts with - follows --" + (mayBeOption ? ", or the = of its option" : "")
  }

  static func usage(_ message: String) -> InputError { InputError(kind: .usage, message: message) }
}
