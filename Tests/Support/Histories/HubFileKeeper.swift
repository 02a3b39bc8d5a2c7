// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeHubFile
package import KeepsakeHubServer
package import KeepsakeValues

/// A hub's file in a folder of its own.
package final class HubFileKeeper: TwinHub.Keeper {
  private let folder: TemporaryFolder
  private var file: HubFile?
  private var images = 0

  private init() throws { folder = try TemporaryFolder() }

  /// A hub over a file.
  package static func hub(_ id: ReplicaID) throws -> any PlayedHub {
    try TwinHub(id, HubFileKeeper())
  }

  private var path: String { folder.path + "/hub.sqlite" }

  package var database: any HubDatabase {
    get throws {
      if let file { return file }
      let opened = try HubFile(path: path)
      file = opened
      return opened
    }
  }

  /// The file alone is all of it when it is closed.
  package func image() throws -> any Sendable {
    close()
    images += 1
    let copy = "\(folder.path)/\(images)"
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    return copy
  }

  package func restore(_ image: any Sendable) throws {
    guard let copy = image as? String else {
      throw ScriptError(description: "not a copy of a hub's file")
    }
    close()
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.copyItem(atPath: copy, toPath: path)
  }

  private func close() {
    file?.close()
    file = nil
  }

  deinit { close() }
}
