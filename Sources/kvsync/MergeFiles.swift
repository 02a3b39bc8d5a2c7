// SPDX-License-Identifier: Apache-2.0
//
// The files of a merge. All are checked before one is touched, and a file that `--create` makes is
// made under another name, which it exchanges for its own when the merge has succeeded. So a merge
// that fails leaves no file that was not there.

import Foundation
import KeepsakeDevice
import KeepsakeValues

final class MergeFiles {
  private let paths: [String]
  private let common: CommonOptions
  private let isOneWay: Bool
  private let creates: Bool
  private var drafts: [(draft: String, path: String)] = []

  init(_ paths: [String], common: CommonOptions, isOneWay: Bool, creates: Bool) {
    self.paths = paths
    self.common = common
    self.isOneWay = isOneWay
    self.creates = creates
  }

  deinit {
    for (draft, _) in drafts { unlink(draft) }
  }

  /// Opens every file, and drafts of those to be made.
  func devices() throws -> [Device] {
    try DistinctFiles.check(paths)
    let existing = try paths.indices.map { try open($0, access($0)) }
    return try zip(paths, existing).map { path, device in
      if let device { return device }
      var generator = SystemRandomNumberGenerator()
      let draft = path + ".new-\(ReplicaID.random(using: &generator))"
      drafts.append((draft, path))
      do throws(KeepsakeError) {
        return try common.open(draft, .create)
      } catch {
        throw error.at(path)
      }
    }
  }

  /// Gives the drafts their names. Nobody may have them open any more.
  func publish() throws {
    for (draft, path) in drafts where link(draft, path) != 0 {
      throw KeepsakeError(
        .cannotCreate, path: path, "it cannot be made (\(String(cString: strerror(errno))))",
        cure: "look whether somebody else has made it, and merge again")
    }
  }

  /// Temporary copies, so that what a dry run tells is what a merge would do.
  func copies(in folder: TemporaryFolder) throws -> [Device] {
    try DistinctFiles.check(paths)
    return try paths.enumerated().map { place, path in
      let copy = "\(folder.path)/\(place).keepsake"
      if let device = try open(place, .readOnly) {
        try device.backUp(to: copy)
      } else {
        try refuseFolder(of: path)
      }
      return try common.open(copy, .create)
    }
  }

  private func access(_ place: Int) -> Access {
    isOneWay && place < paths.count - 1 ? .readOnly : .existing
  }

  /// - Returns: nil for a file that is to be made.
  private func open(_ place: Int, _ access: Access) throws -> Device? {
    do {
      return try common.open(paths[place], access)
    } catch {
      let isReceiver = !isOneWay || place == paths.count - 1
      let isFree = error.code == .missing && !isSymbolicLink(paths[place])
      if isFree, isReceiver, creates { return nil }
      guard isFree, isReceiver else { throw error }
      throw KeepsakeError(
        .missing, path: error.path, error.problem, cure: "check the path, or let --create make it")
    }
  }

  private func refuseFolder(of path: String) throws {
    guard try DistinctFiles.folder(of: path) == nil else { return }
    throw KeepsakeError(
      .cannotCreate, path: path, "its folder does not exist", cure: "make the folder")
  }

  private func isSymbolicLink(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }
}
