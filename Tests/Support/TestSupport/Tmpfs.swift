// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice

/// A small disk, of which any part can be filled up, mounted on a folder.
public final class Tmpfs: Sendable {
  public static let pageSize = 4096
  public static let need = "a small disk can be mounted only by root on Linux"

  /// Only root can mount one, and not in every container.
  public static let isPossible: Bool = {
    guard geteuid() == 0 else { return false }
    do {
      let folder = try TemporaryFolder()
      try Tmpfs(on: folder.path, pages: 1).unmount()
      return true
    } catch {
      return false
    }
  }()

  private let path: String

  public init(on path: String, pages: Int) throws {
    self.path = path
    let size = "size=\(pages * Self.pageSize),mode=755"
    try Self.run("mount", "-t", "tmpfs", "-o", size, "keepsake-tests", path)
  }

  public func unmount() throws { try Self.run("umount", "--lazy", path) }

  /// Fills the disk up to this many pages.
  public func fill(leaving pages: Int) throws {
    try empty()
    let attributes = try FileManager.default.attributesOfFileSystem(forPath: path)
    guard let free = attributes[.systemFreeSize] as? NSNumber else {
      throw Command.Missing(description: "nobody tells how much room \(path) has")
    }
    try Data(count: max(0, free.intValue - pages * Self.pageSize)).write(to: filler)
  }

  public func empty() throws {
    guard FileManager.default.fileExists(atPath: filler.path) else { return }
    try FileManager.default.removeItem(at: filler)
  }

  private var filler: URL { URL(fileURLWithPath: path + "/filler") }

  private static func run(_ program: String, _ arguments: String...) throws {
    let ending = try Command.run(Command.find(program), arguments)
    guard ending.code == 0 else {
      throw Command.Missing(description: "\(program) \(arguments) \(ending)")
    }
  }
}
