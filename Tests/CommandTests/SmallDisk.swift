// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// A folder on a small disk of its own, a tmpfs, of which any part can be filled up.
final class SmallDisk {
  static let pageSize = 4096

  /// Only root can mount one, and not in every container.
  static let isPossible: Bool = {
    guard geteuid() == 0, let disk = Result(catching: { try SmallDisk() }).success else {
      return false
    }
    return FileManager.default.fileExists(atPath: disk.folder.path)
  }()
  static let need: Comment = "a small disk can be mounted only by root on Linux"

  let folder: Folder

  init(pages: Int = 256) throws {
    folder = try Folder()
    let size = "size=\(pages * Self.pageSize),mode=755"
    try folder.shell("mount", "-t", "tmpfs", "-o", size, "keepsake-tests", folder.path)
  }

  deinit {
    do {
      let umount = try Command.find("umount")
      let ending = try Command.run(umount, ["--lazy", folder.path])
      if ending.code != 0 { Issue.record("\(folder.path) is still mounted: \(ending)") }
    } catch {
      Issue.record("\(folder.path) is still mounted: \(error)")
    }
  }

  /// Fills the disk up to this many pages.
  func fill(leaving pages: Int) throws {
    let filler = folder.url("filler")
    if folder.exists("filler") { try FileManager.default.removeItem(at: filler) }
    let free = try #require(
      try FileManager.default.attributesOfFileSystem(forPath: folder.path)[.systemFreeSize]
        as? NSNumber)
    try Data(count: max(0, free.intValue - pages * Self.pageSize)).write(to: filler)
  }

  func empty() throws { try FileManager.default.removeItem(at: folder.url("filler")) }
}

extension Result {
  fileprivate var success: Success? {
    switch self {
    case .success(let value): value
    case .failure: nil
    }
  }
}
