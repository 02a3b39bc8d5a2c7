// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import TestSupport
import Testing

/// Runs the command, which has to succeed.
func kvsync(_ words: String..., sourceLocation: SourceLocation = #_sourceLocation) throws {
  let ending = try Command.run(Command.kvsync.get(), words)
  #expect(ending.code == 0, "\(ending)", sourceLocation: sourceLocation)
}

extension Device {
  /// What SQLite's shell prints. A checkpoint in the background has the write lock for a moment.
  @discardableResult
  func shell(_ sql: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
    let ending = try Command.run(
      Command.find("sqlite3"), ["-cmd", ".timeout 60000", path, sql])
    #expect(ending.code == 0, "\(ending)", sourceLocation: sourceLocation)
    return ending.stdout
  }
}
