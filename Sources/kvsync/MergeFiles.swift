// SPDX-License-Identifier: Apache-2.0
//
// The files of a merge. All are checked before one is touched. A file that `--create` makes has
// another name until the merge has succeeded, so a merge that fails leaves no new file.

import Foundation
import KeepsakeCommandLine
import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues

final class MergeFiles {
  private let paths: [String]
  private let common: CommonOptions
  private let isOneWay: Bool
  private let creates: Bool
  private var drafts: [Draft] = []

  init(_ paths: [String], common: CommonOptions, isOneWay: Bool, creates: Bool) {
    self.paths = paths
    self.common = common
    self.isOneWay = isOneWay
    self.creates = creates
  }

  /// Merges the files, or copies of them that are gone when it returns.
  func merge(_ options: MergeOptions, isDryRun: Bool) throws -> PrintableMergeReport {
    let shown = try report(options, isDryRun ? try TemporaryFolder() : nil)
    // The devices are closed by now.
    try publish()
    return shown
  }

  private func report(
    _ options: MergeOptions, _ folder: TemporaryFolder?
  ) throws -> PrintableMergeReport {
    do {
      let devices = try folder.map { try copies(in: $0) } ?? devices()
      let report = try Merge.run(devices, options: options)
      try complete(devices)
      return PrintableMergeReport(
        report, paths: paths, replicas: try devices.map { try $0.replica() })
    } catch let error as KeepsakeError {
      throw renamed(error, folder)
    }
  }

  /// Opens every file, and drafts of those to be made.
  private func devices() throws -> [Device] {
    try DistinctFiles.check(paths)
    let existing = try paths.indices.map { try open($0, access($0)) }
    return try zip(paths, existing).map { path, device in
      if let device { return device }
      let draft = try Draft(of: path)
      drafts.append(draft)
      return try common.open(draft)
    }
  }

  /// Empties the logs of the drafts, when all is written and before the devices are closed.
  private func complete(_ devices: [Device]) throws {
    for device in devices where drafts.contains(where: { $0.path == device.path }) {
      try device.emptyLog()
    }
  }

  /// Publishes the drafts under their names. All connections to them must be closed.
  private func publish() throws {
    for draft in drafts {
      guard try draft.publish() else {
        throw KeepsakeError(
          .cannotCreate, path: draft.target, "another program has made it meanwhile",
          cure: "merge again")
      }
    }
  }

  /// Temporary copies, so that a dry run reports what a merge would do. The files themselves are
  /// checked: one that is refused keeps its log.
  private func copies(in folder: TemporaryFolder) throws -> [Device] {
    try DistinctFiles.check(paths)
    return try paths.enumerated().map { place, path in
      let copy = Self.copy(place, in: folder)
      if let device = try open(place, .readOnly) {
        try device.checkIntegrity()
        try device.backUp(to: copy)
      } else {
        try refuseFolder(of: path)
      }
      return try common.open(copy, .create)
    }
  }

  private static func copy(_ place: Int, in folder: TemporaryFolder) -> String {
    "\(folder.path)/\(place).keepsake"
  }

  /// The same error with the path of the command line: an error about a draft or a temporary copy
  /// is about its file, unless the disk of the copies is full.
  ///
  /// - Parameter folder: where the copies are.
  private func renamed(_ error: KeepsakeError, _ folder: TemporaryFolder?) -> KeepsakeError {
    if let draft = drafts.first(where: { $0.path == error.path }) { return error.at(draft.target) }
    guard let folder,
      let place = paths.indices.first(where: { Self.copy($0, in: folder) == error.path })
    else { return error }
    return error.at(error.code == .diskFull ? TemporaryFolder.parent : paths[place])
  }

  private func access(_ place: Int) -> Device.Access {
    isOneWay && place < paths.count - 1 ? .readOnly : .existing
  }

  /// - Returns: nil for a file that is to be made.
  private func open(_ place: Int, _ access: Device.Access) throws -> Device? {
    do {
      return try common.open(paths[place], access)
    } catch {
      let isReceiver = !isOneWay || place == paths.count - 1
      let isFree = error.code == .missing && !isSymbolicLink(paths[place])
      if isFree, isReceiver, creates {
        try Creation.refuseOrphanedLog(of: paths[place])
        return nil
      }
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
