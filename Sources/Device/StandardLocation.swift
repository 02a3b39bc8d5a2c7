// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import KeepsakeValues

extension Device {
  /// The application's device, where the system wants its data.
  ///
  /// The file is `device.keepsake` in a folder named by `identifier`: on Linux in `$XDG_DATA_HOME`,
  /// else in `~/.local/share` (https://specifications.freedesktop.org/basedir-spec/latest/), on
  /// Apple's systems in Application Support. Folders that are missing are made, for their owner
  /// alone (0700), and so is the file (0600).
  ///
  /// - Parameters:
  ///   - identifier: names the application, as "org.example.reader"; see `defaultIdentifier`.
  ///   - folder: takes the place of the system's.
  ///   - backups: whether the device is copied each day, beside its file.
  ///   - clock: where timestamps get the time from.
  /// - Throws: `KeepsakeError`, with `invalidKey` for an identifier that is no file name.
  public convenience init(
    identifier: String = Device.defaultIdentifier, in folder: URL? = nil, access: Access = .create,
    busyTimeout: Duration = Device.defaultBusyTimeout, backups: BackupPolicy = .daily,
    clock: WallClock = .system
  ) throws(KeepsakeError) {
    let path = try Self.standardPath(
      identifier, in: folder?.path, environment: ProcessInfo.processInfo.environment)
    try Self.refuseFile(path)
    if access == .create { try Self.makeFolders(FileStatus.folder(of: path)) }
    try self.init(
      path: path, access: access, busyTimeout: busyTimeout, backups: backups, clock: clock)
  }

  /// The bundle's identifier; for a program without a bundle the name of its executable.
  public static var defaultIdentifier: String {
    Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
  }

  package static func standardPath(
    _ identifier: String, in folder: String? = nil, environment: [String: String]
  ) throws(KeepsakeError) -> String {
    let folder = if let folder { folder } else { try dataFolder(environment) }
    guard !identifier.isEmpty, identifier != ".", identifier != "..", !identifier.contains("/"),
      !identifier.utf8.contains(0)
    else {
      throw KeepsakeError(
        .invalidKey, path: folder, "the identifier of the application is no name of a folder",
        cure: "name it like \"org.example.reader\"")
    }
    return folder + "/" + identifier + "/device.keepsake"
  }

  private static func dataFolder(
    _ environment: [String: String]
  ) throws(KeepsakeError) -> String {
    #if canImport(Darwin)
      return URL.applicationSupportDirectory.path
    #else
      // A path that is not absolute is to be ignored, says the specification.
      if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return data }
      guard let home = environment["HOME"], home.hasPrefix("/") else {
        throw KeepsakeError(
          .cannotCreate, path: "$HOME/.local/share", "neither XDG_DATA_HOME nor HOME is set",
          cure: "set one of them, or name a folder")
      }
      return home + "/.local/share"
    #endif
  }

  private static func makeFolders(_ path: String) throws(KeepsakeError) {
    if try FileStatus(of: path) != nil { return }
    let parent = FileStatus.folder(of: path)
    if parent != path { try makeFolders(parent) }
    _ = try Creation.syncing(parent) { () throws(KeepsakeError) in
      guard mkdir(path, 0o700) != 0 else { return true }
      guard errno == EEXIST else { throw Creation.cannotCreate(path, errno) }
      return false
    }
  }
}
