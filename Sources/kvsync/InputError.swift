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

  static let dashCure = "a value that starts with - follows --"

  static func usage(_ message: String) -> InputError { InputError(kind: .usage, message: message) }
}
