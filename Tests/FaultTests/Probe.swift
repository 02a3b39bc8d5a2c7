// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Runs `fault-probe` in a process of its own, because what it does to SQLite is for all of one.
///
/// - Returns: what it prints, once it has ended well.
func probe(_ words: String...) throws -> String {
  let ending = try Command.run(Command.built("fault-probe").get(), words)
  try #require(ending.code == 0 && ending.stderr == "", "\(words) \(ending)")
  return ending.stdout
}
