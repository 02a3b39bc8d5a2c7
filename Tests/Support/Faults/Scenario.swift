// SPDX-License-Identifier: Apache-2.0

/// Something that applications do, which may fail at each call to the file system, and be done
/// again.
package struct Scenario: Sendable {
  package let name: String
  /// Makes the files.
  let prepare: @Sendable (Workspace) throws -> Void
  /// Opens the files and does it; notes what has been acknowledged.
  let run: @Sendable (Workspace) throws -> Void
  /// Throws a `Complaint` about what the files hold.
  ///
  /// - Parameter isDone: whether `run` has come to its end, or failed.
  let check: @Sendable (_ space: Workspace, _ isDone: Bool) throws -> Void

  package static let all: [Scenario] = [
    .creation, .set, .group, .transaction, .seed, .migration, .merge, .compaction, .backup, .clone,
    .restoration, .recovery, .soundRecovery,
  ]
}
