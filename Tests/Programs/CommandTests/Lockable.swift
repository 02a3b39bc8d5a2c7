// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

extension Folder {
  /// A folder whose files belong to an unprivileged user; `sub/bad` is the one that tests lock up.
  static func lockable() throws -> Folder {
    let folder = try furnished()
    try folder.makeFolder("sub")
    try folder.must("set", "sub/bad", "k", "v", Moment.ten.argument)
    try folder.handOver()
    return folder
  }

  /// Gives everything to the user of `runUnprivileged`.
  func handOver() throws {
    if getuid() == 0 { try shell("chown", "-R", "65534:65534", path) }
  }

  /// Runs the tool as a user whom permissions bind: root reads and writes everything.
  func runUnprivileged(_ arguments: [String]) throws -> Ending {
    guard getuid() == 0 else { return try run(arguments) }
    return try Command.run(
      Command.find("setpriv"),
      ["--reuid=65534", "--regid=65534", "--clear-groups", try Command.kvsync.get()] + arguments,
      in: path)
  }
}
