// SPDX-License-Identifier: Apache-2.0

/// An argument of a command, or data, that a command cannot use.
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
