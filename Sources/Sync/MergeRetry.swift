// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice

/// Why a merge, or a part of it, has to begin again.
enum MergeRetry {
  struct Interruption: Error {}
  struct Unread: Error {}

  /// A version that knows no lease merges one of the files.
  static func interrupted(_ path: String) -> KeepsakeError {
    KeepsakeError(
      .locked, path: path, "another merge of this file is under way",
      cure: "try again when it is done", cause: Interruption())
  }

  /// Entries that the other device has to read before this one is written.
  static func unread(_ path: String) -> KeepsakeError {
    KeepsakeError(
      .locked, path: path, "it is written without a pause", cure: "try again when it is quiet",
      cause: Unread())
  }
}
