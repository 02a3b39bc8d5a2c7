// SPDX-License-Identifier: Apache-2.0

/// The first failure of a setter in a transaction, which a property cannot throw.
// Only used by the thread that has the connection of its core.
final class SetterFailures {
  /// The first failure, and what reports it in case something else is thrown.
  var first: (error: any Error, report: @Sendable () -> Void)?
}
