// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Runs the command, which has to succeed.
func kvsync(_ words: String..., sourceLocation: SourceLocation = #_sourceLocation) throws {
  let ending = try Command.run(Command.kvsync.get(), words)
  #expect(ending.code == 0, "\(ending)", sourceLocation: sourceLocation)
}
