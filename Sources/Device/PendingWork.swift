// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// What runs on threads of its own after a commit, such as the resolving of conflicts, so that a
/// test can wait for it.
package final class PendingWork: Sendable {
  private let group = DispatchGroup()

  package func begin() { group.enter() }

  package func end() { group.leave() }

  /// Returns when nothing is under way, and what that began has ended too.
  ///
  /// - Returns: false when the time is over.
  package func wait(seconds limit: Double) -> Bool {
    group.wait(timeout: .now() + limit) == .success
  }
}
