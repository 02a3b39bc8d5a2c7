// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Runs `keepsake-probe`, which changes SQLite for its whole process.
///
/// - Returns: its output, after it has ended well.
func probe(_ words: String...) throws -> String {
  let ending = try Command.runProbe(words)
  try #require(ending.code == 0 && ending.stderr == "", "\(words) \(ending)")
  return ending.stdout
}
