// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeTransfer

extension ImportInput {
  /// Room for every value that is not nearly all control characters.
  private static let maximumPart = 2 * EntrySize.maximumValue

  /// - Parameter path: of a file; - for standard input.
  convenience init(_ path: String) throws {
    let name = path == "-" ? "(standard input)" : path
    let handle = path == "-" ? FileHandle.standardInput : try Self.open(path)
    self.init(name: name, maximumPart: Self.maximumPart, read: handle.read(upToCount:))
  }

  private static func open(_ path: String) throws -> FileHandle {
    var isFolder: ObjCBool = false
    guard try FileID(of: path) != nil,
      FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
    else {
      throw InputError(
        kind: .missing, message: "\(path): there is no such file; check the path")
    }
    if isFolder.boolValue {
      throw InputError(kind: .data, message: "\(path): this is a folder; name a file")
    }
    guard let handle = FileHandle(forReadingAtPath: path) else {
      throw InputError(
        kind: .unreadable, message: "\(path): the file cannot be read; check its permissions")
    }
    return handle
  }
}
