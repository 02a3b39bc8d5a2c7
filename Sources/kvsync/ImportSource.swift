// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeFormats

/// A file or standard input, which an import reads twice: to check all of it, and to write it.
final class ImportSource {
  private let name: String
  private let handle: FileHandle
  /// The offset at which the input begins in a regular file.
  private let start: UInt64
  /// A file without a name with a copy of the input from a pipe or a terminal, which the first
  /// reading writes; nil for a regular file.
  private let copy: FileHandle?
  /// The status of the file when it was opened.
  private let status: FileStatus?

  /// - Parameter path: a file; - for standard input.
  init(_ path: String) throws {
    name = path == "-" ? "(standard input)" : path
    handle = path == "-" ? FileHandle.standardInput : try Self.opened(path)
    status = try Self.status(of: handle)
    let isFile = status?.kind == .regular
    start = isFile ? try handle.offset() : 0
    copy = isFile ? nil : try Self.temporaryFile()
  }

  func first() -> ImportInput {
    ImportInput(name: name) { [handle, copy] limit in
      let piece = try handle.read(upToCount: limit)
      if let copy, let piece { try Self.write(piece, to: copy) }
      return piece
    }
  }

  /// The input from its beginning, after `first` was read to its end.
  func again() throws -> ImportInput {
    let handle = copy ?? handle
    try handle.seek(toOffset: start)
    return ImportInput(name: name, read: handle.read(upToCount:))
  }

  /// Throws if another program has changed the file since it was opened: then only a part of it may
  /// have been written.
  func checkUnchanged() throws {
    let now = try Self.status(of: handle)
    guard copy == nil, now?.size != status?.size || now?.modification != status?.modification else {
      return
    }
    throw InputError(
      kind: .broken, message: "\(name): the file changed while it was imported; try again")
  }

  // MARK: - Files

  private static func status(of handle: FileHandle) throws -> FileStatus? {
    try FileStatus(of: "/dev/fd/\(handle.fileDescriptor)")
  }

  private static func opened(_ path: String) throws -> FileHandle {
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

  private static func temporaryFile() throws -> FileHandle {
    // The folder, and the name in it, are deleted at the end of this function.
    let (descriptor, code) = try withExtendedLifetime(TemporaryFolder()) { folder in
      let first = open(folder.path + "/input", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard (0..<3).contains(first) else { return (first, errno) }
      // A closed standard stream must not become this file.
      defer { close(first) }
      return (fcntl(first, F_DUPFD_CLOEXEC, 3), errno)
    }
    guard descriptor >= 0 else { throw KeepsakeError(system: code, path: TemporaryFolder.parent) }
    return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  private static func write(_ piece: Data, to copy: FileHandle) throws {
    do {
      try copy.write(contentsOf: piece)
    } catch {
      throw InputError(
        kind: .broken,
        message: "\(TemporaryFolder.parent): the input cannot be copied to it; "
          + "free some space, or set TMPDIR")
    }
  }
}
