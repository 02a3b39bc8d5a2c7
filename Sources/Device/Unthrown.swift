// SPDX-License-Identifier: Apache-2.0

/// What has failed in the body of a transaction, or of a part of one, without being thrown there.
// Only used by the thread that has the connection of its core.
final class Unthrown {
  /// The first failure, and what reports it in case something else is thrown.
  var first: (error: any Error, report: @Sendable () -> Void)?
}
