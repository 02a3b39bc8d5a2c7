// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Testing

/// Work as a user whom permissions bind: root reads and writes everything.
package enum Unprivileged {
  package static let need: Comment =
    "root reads everything, and only Linux lets a thread do without that"

  /// Linux checks files by a user that each thread may change for itself, and takes root's other
  /// rights over files away with it. https://man7.org/linux/man-pages/man2/setfsuid.2.html
  private static let setUser: (@convention(c) (uid_t) -> CInt)? = dlsym(nil, "setfsuid").map {
    unsafeBitCast($0, to: (@convention(c) (uid_t) -> CInt).self)
  }

  package static let isPossible = geteuid() != 0 || setUser != nil

  /// - Parameter folder: given to that user, with all that is in it.
  package static func run(in folder: String, _ body: () -> Void) throws {
    guard geteuid() == 0 else { return body() }
    let setUser = try #require(setUser)
    let nobody: uid_t = 65534
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
    for name in [""] + names { try #require(chown("\(folder)/\(name)", nobody, nobody) == 0) }
    _ = setUser(nobody)
    defer { _ = setUser(0) }
    // It returns the user from before, and -1 is none that could be set.
    try #require(setUser(.max) == CInt(nobody))
    body()
  }
}
