// SPDX-License-Identifier: Apache-2.0
//
// The only code of this module that reads the file system. Bundles are untrusted input, so:
// - it reads no file outside the folder: not through `..`, an absolute path or a symbolic link;
// - it reads only regular files (a FIFO would block), and checks the size first.

import KeepsakeValues

package struct BundleFolder {
  /// The caller's path, for messages; empty for the current directory.
  private let callersPath: String
  /// Absolute and without symbolic links.
  private let path: String
  let identifier: String
  /// Whether the caller named the folder, not a file in it.
  let isBundle: Bool

  /// The folder, and the name of the file to start with.
  package static func open(_ path: String) throws(PropertyListError) -> (BundleFolder, root: String)
  {
    // An empty path would be the current directory.
    if path.isEmpty { throw failure(POSIXError(.ENOENT), shown: path) }
    let url = URL(filePath: path)
    let real = url.resolvingSymlinksInPath()
    let (type, _) = try attributes(of: real.path, shown: path)
    if type == .typeDirectory {
      let folder = BundleFolder(
        callersPath: path, path: real.path, identifier: real.lastPathComponent, isBundle: true)
      let root = "Root.plist"
      let names = folder.names()
      if !names.contains(root),
        let other = names.first(where: { $0.lowercased() == "root.plist" })
      {
        throw PropertyListError(
          .missing, file: folder.shownPath(root), "there is no such file, but \(other)",
          cure: "rename it: devices tell small letters from capital ones")
      }
      return (folder, root)
    }
    // Panes are in the folder of the link, not of its target.
    let parent = url.absoluteURL.deletingLastPathComponent().resolvingSymlinksInPath()
    let name = url.lastPathComponent
    let slash = path.reversed().drop { $0 == "/" }.firstIndex(of: "/")
    let folder = BundleFolder(
      callersPath: slash.map { String(path[..<$0.base]) } ?? "", path: parent.path,
      identifier: name, isBundle: false)
    return (folder, name)
  }

  /// The path of a file of this folder as the caller would write it.
  package func shownPath(_ file: String) -> String {
    let needsSlash = !callersPath.isEmpty && !callersPath.hasSuffix("/")
    return callersPath + (needsSlash ? "/" : "") + file
  }

  /// The location of a file after its links are resolved.
  package enum Location {
    case inside(String)
    case outside
    case missing
  }

  package func locate(_ file: String) throws(PropertyListError) -> Location {
    // Longer than any system allows; resolving it would be slow.
    guard file.utf8.count <= 4096 else { return .missing }
    let named = "\(path)/\(file)"
    let real = URL(filePath: named).resolvingSymlinksInPath().path
    do throws(PropertyListError) {
      _ = try Self.attributes(of: real, shown: shownPath(file))
    } catch  where error.code == .missing || Self.system(error.cause)?.code == .ENAMETOOLONG {
      return .missing
    }
    let root = path.hasSuffix("/") ? path : path + "/"
    return real.utf8.starts(with: root.utf8) ? .inside(real) : .outside
  }

  /// The bytes of a file and its real path.
  ///
  /// - Parameter real: From `locate`, or nil for the file that the caller named.
  package func read(
    _ file: String, real: String?, limit: Int
  ) throws(PropertyListError) -> (bytes: [UInt8], path: String) {
    let shown = shownPath(file)
    let real = real ?? URL(filePath: "\(path)/\(file)").resolvingSymlinksInPath().path
    let (type, size) = try Self.attributes(of: real, shown: shown)
    guard type == .typeRegular else {
      throw PropertyListError(
        .notAFile, file: shown,
        type == .typeDirectory ? "this is a directory" : "this is not a regular file",
        cure: "name a property list")
    }
    guard size <= limit else { throw .tooLarge(file: shown, limit: limit) }
    do {
      return ([UInt8](try Data(contentsOf: URL(filePath: real))), real)
    } catch {
      throw Self.failure(error, shown: shown)
    }
  }

  /// The sorted names in a folder of the bundle, "" for the bundle itself; empty if it cannot be
  /// listed.
  package func names(in subfolder: String = "") -> [String] {
    let folder = subfolder.isEmpty ? path : "\(path)/\(subfolder)"
    do {
      let names = try FileManager.default.contentsOfDirectory(atPath: folder)
      return names.sorted { ByteText($0) < ByteText($1) }
    } catch {
      return []
    }
  }

  // MARK: - File system calls

  private static func attributes(
    of path: String, shown: String
  ) throws(PropertyListError) -> (type: FileAttributeType?, size: Int) {
    do {
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      // The path is resolved, so a remaining link is broken or part of a cycle.
      if attributes[.type] as? FileAttributeType == .typeSymbolicLink { throw POSIXError(.ENOENT) }
      // The type of the number depends on the platform.
      let size = attributes[.size] as? UInt ?? (attributes[.size] as? UInt64).map { UInt($0) }
      return (attributes[.type] as? FileAttributeType, Int(clamping: size ?? .max))
    } catch {
      throw failure(error, shown: shown)
    }
  }

  private static func system(_ error: (any Error)?) -> POSIXError? {
    let inner = (error as? CocoaError)?.userInfo["NSUnderlyingError"] as? any Error
    return (inner ?? error) as? POSIXError
  }

  private static func failure(_ error: any Error, shown: String) -> PropertyListError {
    let system = Self.system(error)?.code
    switch system {
    case .ENOENT, .ENOTDIR:
      return PropertyListError(
        .missing, file: shown, "there is no such file", cure: "check the path", cause: error)
    case .EACCES, .EPERM:
      return PropertyListError(
        .permissionDenied, file: shown, "permission to read it is denied",
        cure: "change its permissions", cause: error)
    default:
      return PropertyListError(
        .unreadable, file: shown, "it cannot be read" + (system.map { " (\($0))" } ?? ""),
        cure: "check the path and the disk", cause: error)
    }
  }
}

/// Turns `File` of a child pane into a path within the bundle.
package enum PanePath {
  /// The path with the extension `.plist`.
  ///
  /// The schema requires a bare name; published bundles also write `.plist` and folders. Works on
  /// bytes, as the file system does: a `/` followed by a combining mark is another `Character`.
  ///
  /// - Throws: `Fault` for an empty name, an absolute path, or `..` anywhere.
  package static func file(_ name: String, at offset: Int) throws(Fault) -> String {
    let slash = UInt8(ascii: "/")
    let parts = name.utf8.split(separator: slash).filter { !$0.elementsEqual(".".utf8) }
    guard name.utf8.first != slash, !parts.contains(where: { $0.elementsEqual("..".utf8) }) else {
      throw leaving(name, at: offset)
    }
    var stem = Array(parts.joined(separator: CollectionOfOne(slash)))[...]
    let suffix = ".plist".utf8
    if stem.suffix(suffix.count).elementsEqual(suffix) { stem = stem.dropLast(suffix.count) }
    guard let last = stem.last, last != slash, name.utf8.last != slash else {
      throw Fault(
        .invalidPanePath, at: offset, "File \(name.quoted) is not a file name",
        cure: "write the name of a property list in the bundle, without .plist")
    }
    return String(decoding: stem, as: UTF8.self) + ".plist"
  }

  static func leaving(_ name: String, at offset: Int) -> Fault {
    Fault(
      .invalidPanePath, at: offset, "File \(name.quoted) is outside the bundle",
      cure: "move the pane into the bundle and write its name")
  }
}
