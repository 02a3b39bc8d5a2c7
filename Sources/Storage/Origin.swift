// SPDX-License-Identifier: Apache-2.0
//
// A child that fork(2) makes has the memory of its parent, and neither its threads nor its locks on
// files. What SQLite's connection writes there, even when it is closed, can damage the file, and no
// file that the parent had open can be opened anew, because SQLite remembers in memory which locks
// a process has (https://www.sqlite.org/howtocorrupt.html, section 2.6). So in a child everything
// of its parent's is refused, and left alone.

import KeepsakeForks
import KeepsakeValues

/// The process in which something was made.
package struct Origin: Sendable {
  private let forks = keepsake_forks()

  package init() {}

  /// False in a child that fork has made since, for the price of a load.
  package var isThisProcess: Bool { forks == keepsake_forks() }

  /// Throws in a child.
  func refuseChild(_ path: String) throws(KeepsakeError) {
    if !isThisProcess { throw .inherited(path) }
  }
}

extension KeepsakeError {
  package static func inherited(_ path: String) -> KeepsakeError {
    KeepsakeError(
      .inherited, path: path, "the parent of this process had it open when it called fork",
      cure: "let the child be a program of its own, or open the file only after the fork")
  }
}
