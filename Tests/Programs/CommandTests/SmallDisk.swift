// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// A folder on a small disk of its own, of which any part can be filled up.
final class SmallDisk {
  static let need = Comment(rawValue: Tmpfs.need)

  let folder: Folder
  private let disk: Tmpfs

  init(pages: Int = 256) throws {
    folder = try Folder()
    disk = try Tmpfs(on: folder.path, pages: pages)
  }

  deinit {
    do {
      try disk.unmount()
    } catch {
      Issue.record("\(folder.path) is still mounted: \(error)")
    }
  }

  func fill(leaving pages: Int) throws { try disk.fill(leaving: pages) }

  func empty() throws { try disk.empty() }
}
