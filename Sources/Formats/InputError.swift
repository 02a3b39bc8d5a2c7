// SPDX-License-Identifier: Apache-2.0

/// Words on the command line, or data, that cannot be used.
package struct InputError: Error {
  package enum Kind: Sendable { case usage, data, missing, unreadable, broken }

  package let kind: Kind
  /// What is wrong; what to do.
  package let message: String

  package init(kind: Kind, message: String) {
    self.kind = kind
    self.message = message
  }
}
