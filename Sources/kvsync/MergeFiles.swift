// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice
import KeepsakeValues

/// Opens the files of a merge: all are checked before one is made or touched.
struct MergeFiles {
  private let paths: [String]
  private let common: CommonOptions
  private let isOneWay: Bool
  private let creates: Bool

  init(_ paths: [String], common: CommonOptions, isOneWay: Bool, creates: Bool) {
    self.paths = paths
    self.common = common
    self.isOneWay = isOneWay
    self.creates = creates
  }

  func devices() throws -> [Device] {
    try refuseSamePath()
    var devices: [Device?] = []
    for (place, path) in paths.enumerated() {
      devices.append(try existing(path, access(place)))
    }
    for (place, path) in paths.enumerated() where devices[place] == nil {
      devices[place] = try common.open(path, .create)
    }
    return devices.compactMap { $0 }
  }

  /// The same on copies, so that what a dry run tells is what a merge would do.
  func copies(in folder: TemporaryFolder) throws -> [Device] {
    try refuseSamePath()
    var files: Set<FileID> = []
    return try paths.enumerated().map { place, path in
      let copy = "\(folder.path)/\(place).keepsake"
      if let device = try existing(path, .readOnly) {
        if let file = device.file, !files.insert(file).inserted {
          throw Self.sameFile(path)
        }
        try device.backUp(to: copy)
      }
      return try common.open(copy, .create)
    }
  }

  /// Two missing files are told apart by their paths alone, before either is made.
  private func refuseSamePath() throws {
    var seen: Set<String> = []
    for path in paths {
      let absolute = URL(fileURLWithPath: path).standardizedFileURL.path
      guard seen.insert(absolute).inserted else { throw Self.sameFile(path) }
    }
  }

  private static func sameFile(_ path: String) -> KeepsakeError {
    KeepsakeError(
      .sameFile, path: path, "this file is named twice", cure: "name each file once")
  }

  private func access(_ place: Int) -> Access {
    isOneWay && place < paths.count - 1 ? .readOnly : .existing
  }

  private func existing(_ path: String, _ access: Access) throws -> Device? {
    do {
      return try common.open(path, access)
    } catch {
      guard error.code == .missing else { throw error }
      if creates { return nil }
      throw KeepsakeError(
        .missing, path: path, error.problem, cure: "check the path, or let --create make it")
    }
  }
}
